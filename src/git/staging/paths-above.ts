/*
 * Paths and the folders that they lie in. An agent makes as many of each as it likes, one in another: whatever looks at the
 * folders of all paths looks at each folder once.
 */

/** The folder in which a path lies; "" is the top. */
export function above(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The paths and all the folders that they lie in, each once, the top left out. */
export function* withFolders(paths: Iterable<string>): Generator<string> {
  const seen = new Set([""]);
  for (const path of paths) {
    for (let entry = path; !seen.has(entry); entry = above(entry)) {
      seen.add(entry);
      yield entry;
    }
  }
}

/** Whether a path is one of these entries or lies in one. */
export function withinAny(entries: Iterable<string>): (path: string) => boolean {
  const known = new Map<string, boolean>([["", false]]);
  for (const entry of entries) known.set(entry, true);
  return (path) => {
    const unknown: string[] = [];
    let entry = path;
    for (; !known.has(entry); entry = above(entry)) unknown.push(entry);
    const isIn = known.get(entry) === true;
    for (const one of unknown) known.set(one, isIn);
    return isIn;
  };
}
