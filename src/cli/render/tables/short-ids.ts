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

/** As much of an id's end as is shown where its middle is not. */
const END = 8;

/** Pure: the same, but of what is then still wider than `most` the middle goes, unless that makes two look the same. */
export function shorterIds(ids: readonly string[], width: number, most: number): string[] {
  const short = shortIds(ids, width);
  const cut = short.map((id, at) => (displayWidth(id) <= most ? id : withoutMiddle(ids[at] ?? id, most)));
  return new Set(cut).size === new Set(ids).size ? cut : short;
}

function withoutMiddle(id: string, width: number): string {
  return cutToWidth(id, width - END) + id.slice(-END);
}

function shared(id: string, other: string | undefined): number {
  const limit = Math.min(id.length, other?.length ?? 0);
  let length = 0;
  while (length < limit && id[length] === other?.[length]) length += 1;
  return length;
}
