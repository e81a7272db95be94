import { isIn } from "./normal-path.ts";
import { type Spot, spend } from "./state/state.ts";
import type { Flow } from "./values/flow.ts";
import { fitsPattern } from "./values/glob.ts";
import { beforePattern, lastNameOf, placeOfFound, type Text } from "./values/text.ts";

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
