import { posix } from "node:path";
import { isIn } from "./normal-path.ts";
import { readArguments } from "./options.ts";
import { absolutePaths } from "./paths.ts";
import { type Spot, spend } from "./state/state.ts";
import { fitsPath } from "./values/glob.ts";
import { type Text, textOf } from "./values/text.ts";

/** Notes what is not there any more; what is found by a search is not told. */
export function noteGone(all: readonly Text[], { line }: Spot): void {
  line.gone ??= [];
  for (const one of all) if (one.type === "known" || one.type === "glob") line.gone.push(one);
}

/** Whether a folder is sure to be there: it was before this line, or the line made it, and nothing deleted or moved it since. */
export function isThere(folder: string, spot: Spot): boolean {
  const { place, gone = [] } = spot.line;
  const made = spot.shell.made.get(folder);
  if (made === undefined && place.look(folder) !== "folder") return false;
  spend(spot, gone.length >> 1);
  return !gone.slice(made).some((one) => {
    if (one.type === "known") return isIn(folder, one.text);
    return one.type === "glob" && (fitsPath(one.text, folder) || fitsPath(`${one.text}/**`, folder));
  });
}

/** The folders that `mkdir` is sure to make, or to find there. */
export function noteMade(args: readonly Text[], spot: Spot): void {
  if (!spot.line.mayMove) return;
  const { operands } = readArguments(args, {});
  const options = args.map(textOf).filter((arg) => arg.startsWith("-"));
  if (
    !args.every(({ type }) => type === "known") ||
    !options.every((one) => /^-(?:[pv]+|-parents|-verbose)$/.test(one))
  )
    return;
  const hasParents = options.some((one) => /^-(?:[pv]*p|-parents$)/.test(one));
  for (const operand of operands) {
    const [path, ...more] = absolutePaths(operand, spot);
    if (path?.type !== "known" || more.length > 0) continue;
    const missing: string[] = [];
    let at = path.text;
    for (; at !== "/" && !isThere(at, spot) && canBeMade(at, spot); at = posix.dirname(at)) missing.push(at);
    if (missing.length === 0 || !isThere(at, spot) || (missing.length > 1 && !hasParents)) continue;
    const { shell, line } = spot;
    spend(spot, shell.made.size >> 3);
    const gone = line.gone?.length ?? 0;
    shell.made = new Map([...shell.made, ...missing.map((one) => [one, gone] as const)]);
  }
}

/** Names that are longer than some file systems have them are not. */
const SHORT = /^[ -~]{1,255}$/;

/** Whether there is no file, and no link. */
function canBeMade(path: string, spot: Spot): boolean {
  const { place, files, touched } = spot.line;
  spend(spot);
  const folder = posix.dirname(path);
  return (
    SHORT.test(path) &&
    place.look(path) !== "file" &&
    !files.has(path) &&
    !touched?.has(path) &&
    place.leads(path) === posix.join(place.leads(folder) ?? "", posix.basename(path))
  );
}
