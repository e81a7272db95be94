import { posix } from "node:path";
import { isIn, normal } from "./normal-path.ts";
import { type Line, type Spot, spend } from "./state/state.ts";
import { beforePattern, placeOfFound, type Text } from "./values/text.ts";

/** Where a path leads through a link that is in a copy, which is not there yet: it is followed where the copy comes from. */
export function behindCopies(path: Text, copies: ReadonlyMap<string, string>, spot: Spot): Text[] {
  if (path.type !== "known" && path.type !== "glob") return [];
  const { leads } = spot.line.place;
  const found: Text[] = [];
  spend(spot, copies.size >> 3);
  for (const [to, from] of copies) {
    if (!isIn(path.text, to)) continue;
    const before = `${from}${path.text.slice(to.length)}`;
    const start = path.type === "glob" ? posix.dirname(`${beforePattern(before)}.`) : before;
    const folder = posix.dirname(from);
    if (leads(start) !== `${leads(folder)}${start.slice(folder.length)}`) found.push(normal(path, before));
  }
  return found;
}

/** What a path is behind the links that the line made: they are not there yet to be followed. */
export function behindLinks(path: Text, links: ReadonlyMap<string, string>): Text[] {
  if (path.type !== "known" && path.type !== "glob") return [];
  let { text } = path;
  for (let left = links.size, before = ""; left > 0 && before !== text; left -= 1) {
    before = text;
    for (const [from, to] of links)
      if (text === from || text.startsWith(`${from}/`)) text = `${to}${text.slice(from.length)}`;
  }
  return text === path.text ? [] : [normal(path, text)];
}

/** Whether a change of a path may go through a link that was unpacked; what is deleted is the link itself. */
export function mayBeUnpacked(path: Text, kind: "writes" | "deletes", into: readonly string[]): boolean {
  if (path.type === "unknown" || (path.type === "found" && kind === "deletes")) return false;
  const isBelow = (at: string, start: string) => (start.endsWith("/") ? at.startsWith(start) : isIn(at, start));
  if (path.type === "found") {
    const { folder } = placeOfFound(path);
    return into.some((start) => isBelow(`${folder}/x`, start) || isIn(start, folder));
  }
  const before = path.type === "glob" ? beforePattern(path.text) : "";
  const named = path.type === "glob" ? `${before}x` : path.text;
  const at = kind === "deletes" ? posix.dirname(named) : named;
  // A pattern that goes on behind a folder may mean any of those that begin like it.
  const isWide = path.type === "glob" && path.text.slice(before.length).includes("/");
  return into.some((start) => isBelow(at, start) || (isWide && start.startsWith(before)));
}

/** How many links a line has made, or may have. */
export const linksIn = ({ links, copies, unpackedInto, outward }: Line): number =>
  (links?.size ?? 0) + (copies?.size ?? 0) + (unpackedInto?.length ?? 0) + (outward ? 1 : 0);
