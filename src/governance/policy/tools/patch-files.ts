const OWN_FORM = /^\s*\*\*\* (?:Add File|Update File|Delete File|Move to):\s*(.+)$/;
const UNIFIED = /^(?:---|\+\+\+) (?:[ab]\/)?([^\t\n]+)/;
const GIT_FORM = /^(?:rename (?:from|to)|copy (?:from|to)) (.+)$/;

/** The files that a patch changes, in the form of `apply_patch` or as a unified diff; undefined when it names none. */
export function filesInPatch(patch: string): string[] | undefined {
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
    const name = (UNIFIED.exec(line) ?? GIT_FORM.exec(line))?.[1]?.trim();
    if (name !== undefined && name !== "/dev/null") found.add(name);
  }
  return found.size > 0 ? [...found] : undefined;
}
