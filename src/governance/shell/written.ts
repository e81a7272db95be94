import { isIn } from "./normal-path.ts";
import { type Spot, spend } from "./state/state.ts";
import type { Flow } from "./values/flow.ts";
import { fitsPath, fitsPattern } from "./values/glob.ts";
import { beforePattern, lastNameOf, placeOfFound, sameText, type Text } from "./values/text.ts";

/** What this line wrote into files that a pattern or a search can mean. */
export function writtenBelow(meant: Extract<Text, { type: "glob" | "found" }>, spot: Spot): Flow[] {
  spend(spot, spot.line.files.size >> 3);
  const start = meant.type === "glob" ? beforePattern(meant.text) : placeOfFound(meant).folder;
  const pattern = meant.type === "found" ? lastNameOf(meant) : undefined;
  const some: Flow[] = [];
  for (const [name, written] of spot.line.files) {
    const isBelow = meant.type === "glob" ? name.startsWith(start) : isIn(name, start);
    const last = name.slice(name.lastIndexOf("/") + 1);
    if (isBelow && (pattern === undefined || fitsPattern(pattern, last))) some.push(written);
  }
  return some;
}

/** Notes what is not there any more; what is found by a search is not told. */
export function noteGone(all: readonly Text[], { line }: Spot): void {
  line.gone ??= [];
  for (const one of all) if (one.type === "known" || one.type === "glob") line.gone.push(one);
}

/** A folder is made, where it was gone. */
export function noteMade(all: readonly Text[], spot: Spot): void {
  const { gone = [] } = spot.line;
  spend(spot, (gone.length * all.length) >> 3);
  if (gone.length > 0) spot.line.gone = gone.filter((one) => !all.some((path) => sameText(path, one)));
}

/** Whether this line deleted or moved a folder, or one around it. */
export function mayBeGone(folder: string, spot: Spot): boolean {
  const { gone = [] } = spot.line;
  spend(spot, gone.length >> 1);
  return gone.some((one) => {
    if (one.type === "known") return isIn(folder, one.text);
    return one.type === "glob" && (fitsPath(one.text, folder) || fitsPath(`${one.text}/**`, folder));
  });
}
