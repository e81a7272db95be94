/** As git writes them: each end with the commit that it is from. A line of `=` alone may be one of text, too. */
const MARK = /^\+(?:(?:<{7,}|>{7,}|\|{7,}) [0-9a-f]{40,}|={7}\s*$)/;

/** Added lines that look like marks of a conflict, with their file. */
function marksIn(patch: string): Map<string, string> {
  const found = new Map<string, string>();
  let file = "";
  for (const line of patch.split("\n")) {
    if (line.startsWith("+++ ")) file = line.slice(4).replace(/^b\//, "");
    else if (MARK.test(line)) found.set(`${file}\n${line.trimEnd()}`, file);
  }
  return found;
}

/** Pure: the files that a patch brings marks of a conflict into, beyond those that the commit had before it conflicted. */
export function leftMarks(patch: string, before: string): string[] {
  const had = marksIn(before);
  const left = [...marksIn(patch)].filter(([mark]) => !had.has(mark));
  return [...new Set(left.map(([, file]) => file))];
}

/** Pure: those of the files that have a name which git made up, where a file and a folder of one name conflict: `name~<commit>`. */
export function madeUpNames(files: readonly string[]): string[] {
  return files.filter((file) => /~[0-9a-f]{40,}(?:_\d+)?$/.test(file));
}
