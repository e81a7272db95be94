/** What may come next in a pattern; a string is that character. */
type Sign = { readonly sign: "one" | "in-folder" | "across" | "into-folders" | "folders" } | string;

const SIGNS: Readonly<Record<string, readonly Sign[]>> = {
  "?": [{ sign: "one" }],
  "*": [{ sign: "in-folder" }],
  "**": [{ sign: "across" }],
  // Nothing at all, or folders to their last slash.
  "**/": [{ sign: "into-folders" }, { sign: "folders" }],
};

/**
 * Whether a path, or a folder above it, fits a pattern. It takes no more than their lengths multiplied, whatever stands in them:
 * plans and agents write patterns, and a regular expression with many wildcards may take for ever.
 */
export function wildcardMatcher(pattern: string): (path: string) => boolean {
  const signs = (pattern.match(/\*\*\/?|./gs) ?? []).flatMap((part) => SIGNS[part] ?? [part]);
  const isEnd = (places: ReadonlySet<number>, path: string, at: number): boolean =>
    places.has(signs.length) && (at === path.length || path[at] === "/");
  return (path) => {
    let places = new Set<number>();
    reach(0, signs, places);
    for (let at = 0; at < path.length && places.size > 0; at += 1) {
      if (isEnd(places, path, at)) return true;
      const next = new Set<number>();
      for (const place of places) advance(place, path[at] as string, signs, next);
      places = next;
    }
    return isEnd(places, path, path.length);
  };
}

/** A place in a pattern, and those that are reached from there without any character. */
function reach(place: number, signs: readonly Sign[], places: Set<number>): void {
  // Not by calling itself: a pattern may have more wildcards in a row than calls can be nested.
  for (let at = place; !places.has(at); at += 1) {
    places.add(at);
    const sign = signs[at];
    if (sign === undefined || typeof sign === "string" || sign.sign === "one" || sign.sign === "folders") return;
    if (sign.sign !== "into-folders") continue;
    at += 1;
    places.add(at);
  }
}

/** The places after one more character. */
function advance(place: number, character: string, signs: readonly Sign[], next: Set<number>): void {
  const sign = signs[place];
  if (sign === undefined) return;
  if (typeof sign === "string") {
    if (sign === character) reach(place + 1, signs, next);
  } else if (sign.sign === "one") {
    if (character !== "/") reach(place + 1, signs, next);
  } else if (sign.sign === "in-folder") {
    if (character !== "/") reach(place, signs, next);
  } else if (sign.sign !== "into-folders") {
    reach(place, signs, next);
    if (sign.sign === "folders" && character === "/") reach(place + 1, signs, next);
  }
}
