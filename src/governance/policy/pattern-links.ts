import { fitsPattern } from "../shell/values/glob.ts";
import {
  type FoundNames,
  folderBefore,
  isPattern,
  lastNameOf,
  patternBehind,
  placeOfFound,
  type Text,
} from "../shell/values/text.ts";
import type { Files } from "./paths.ts";

/** More folders than these are not looked into: whether a link is among them cannot be told then. */
const MAX_FOLDERS = 500;

interface Walk {
  readonly files: Files;
  /** Whether the last name is gone itself, and not what a link of that name leads to. */
  readonly isDeleted: boolean;
  readonly found: Text[];
  left: number;
}

/** Paths that a pattern means because of a link that is there now; undefined when they are too many to look at. */
export function behindPattern(pattern: string, files: Files, isDeleted: boolean): readonly Text[] | undefined {
  const start = folderBefore(pattern);
  const walk: Walk = { files, isDeleted, found: [], left: MAX_FOLDERS };
  look(start.replace(/(.)\/$/, "$1"), patternBehind(pattern).split("/").filter(Boolean), walk);
  return walk.left < 0 ? undefined : walk.found;
}

/** Links of packages lead to others there, and git makes none. */
const WITHOUT = new Set(["node_modules", ".git"]);

/** Links below a folder that a search can tell, or follow; undefined when there are too many folders to look at. */
export function linksFound(meant: FoundNames, files: Files): readonly Text[] | undefined {
  const pattern = (meant.follows ? undefined : lastNameOf(meant)) ?? "*";
  const found: Text[] = [];
  const folders = meant.real && !meant.follows ? [] : [placeOfFound(meant).folder];
  for (let at = 0; at < folders.length; at += 1) {
    if (at === MAX_FOLDERS) return undefined;
    const here = folders[at] as string;
    const entries = files.entries(here);
    for (const one of entries.links)
      if (fitsPattern(pattern, one)) found.push({ type: "known", text: `${here}/${one}` });
    for (const one of entries.folders) if (!WITHOUT.has(one)) folders.push(`${here}/${one}`);
  }
  return found;
}

const unescaped = (name: string): string => name.replace(/\\(.)/g, "$1");

function look(folder: string, [name, ...rest]: readonly string[], walk: Walk): void {
  if (name === undefined || (walk.isDeleted && rest.length === 0)) return;
  walk.left -= 1;
  if (walk.left < 0) return;
  const at = (one: string) => (folder === "/" ? `/${one}` : `${folder}/${one}`);
  if (!isPattern(name)) {
    const path = at(unescaped(name));
    if (typeof walk.files.link(path) === "string") walk.found.push(withRest(path, rest));
    else look(path, rest, walk);
    return;
  }
  const isMeant = (one: string) => (!one.startsWith(".") || name.startsWith(".")) && fitsPattern(name, one);
  const { links, folders } = walk.files.entries(folder);
  for (const one of links) if (isMeant(one)) walk.found.push(withRest(at(one), rest));
  if (rest.length > 0) for (const one of folders) if (isMeant(one)) look(at(one), rest, walk);
}

function withRest(path: string, rest: readonly string[]): Text {
  const plain = rest.map(unescaped);
  const isKnown = !rest.some(isPattern);
  if (isKnown) return { type: "known", text: [path, ...plain].join("/") };
  return { type: "glob", text: [path.replace(/[*?[\]\\]/g, "\\$&"), ...rest].join("/") };
}
