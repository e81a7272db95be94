import { cutToWidth } from "./table.ts";
import { displayWidth } from "./width.ts";

/** Pure: ids cut to `width`, but not to less than what tells them apart, which is also enough to type. */
export function shortIds(ids: readonly string[], width: number): string[] {
  const sorted = [...new Set(ids)].sort();
  const apart = new Map(
    sorted.map((id, index) => [id, 1 + Math.max(shared(id, sorted[index - 1]), shared(id, sorted[index + 1]))]),
  );
  return ids.map((id) => cutToWidth(id, Math.max(width, 1 + displayWidth(id.slice(0, apart.get(id))))));
}

function shared(id: string, other: string | undefined): number {
  const limit = Math.min(id.length, other?.length ?? 0);
  let length = 0;
  while (length < limit && id[length] === other?.[length]) length += 1;
  return length;
}
