// A name may have any character but the end of a line, also those that a dot alone does not mean: U+2028, a carriage return.
const OWN_FORM = /^\s*\*\*\*\s*(?:Add File|Update File|Delete File|Move to):(.+)$/is;
const UNIFIED = /^(?:---|\+\+\+|Index:)\s+([^\t\n]+)/;
const GIT_FORM = /^(?:rename (?:from|to)|copy (?:from|to)) (.+)$/s;
const GIT_HEADER = /^diff --git (.+)$/s;

/** The files that a patch changes, in the form of `apply_patch` or as a unified diff; undefined when it names none. */
export function filesInPatch(patch: string, strip = 1): string[] | undefined {
  const found = new Set<string>();
  let isOwnForm = false;
  for (const line of patch.split(/\r?\n/)) {
    const own = OWN_FORM.exec(line.trimEnd())?.[1];
    if (own !== undefined) {
      isOwnForm = true;
      found.add(own.trim());
    }
    // Lines of a file that is added may look like those of a diff.
    if (isOwnForm) continue;
    for (const name of namesIn(line, strip)) if (name !== "/dev/null") found.add(name);
  }
  return found.size > 0 ? [...found] : undefined;
}

function namesIn(line: string, strip: number): string[] {
  const header = GIT_HEADER.exec(line)?.[1];
  if (header !== undefined) return bothOf(header).map((name) => withoutSide(plain(name), strip));
  const renamed = GIT_FORM.exec(line)?.[1];
  if (renamed !== undefined) return [plain(renamed)];
  const name = UNIFIED.exec(line)?.[1];
  return name === undefined ? [] : [withoutSide(plain(name), strip)];
}

/** Without its side, or without as many folders as `-p` takes away where those are more. */
const withoutSide = (name: string, strip: number): string =>
  strip > 1 && name !== "/dev/null" ? name.split("/").slice(strip).join("/") || name : name.replace(/^[ab]\//, "");

/** Of a file that is only made, deleted or given other rights, a header is all that names it. */
function bothOf(header: string): string[] {
  const quoted = /^("(?:\\.|[^"\\])*"|\S+) ("(?:\\.|[^"\\])*"|\S+)$/.exec(header);
  if (quoted) return quoted.slice(1);
  // Names with spaces are not quoted: most often both are the same.
  const at = header.indexOf(" b/", header.length / 2 - 2);
  return at < 0 ? [header] : [header.slice(0, at), header.slice(at + 1)];
}

const LETTERS: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** A name as git quotes it: bytes that are not plain ASCII stand there as numbers. */
function plain(written: string): string {
  const name = written.trim();
  if (!/^".*"$/.test(name)) return name;
  const bytes: number[] = [];
  for (const [all, octal] of name.slice(1, -1).matchAll(/\\([0-7]{1,3})|\\?[^\\]|\\\\/gu))
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8) & 0xff);
    else if (all.length > 1 && all.startsWith("\\")) bytes.push(LETTERS[all.slice(1)] ?? all.charCodeAt(1));
    else bytes.push(...Buffer.from(all));
  return Buffer.from(bytes).toString();
}
