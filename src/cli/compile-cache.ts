/**
 * Has Node keep what it compiles, and gives the folder where, if that is ours: what is in there is executed. Node takes a folder
 * that everybody can make first, below the temporary one, and does not look whose the files in it are.
 */
export function keepCompiled(): string | undefined {
  const { enableCompileCache, getCompileCacheDir } = process.getBuiltinModule("node:module");
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  // A person may have said where, by NODE_COMPILE_CACHE.
  const given = getCompileCacheDir();
  if (given !== undefined) return isOurs(given, uid) ? given : undefined;
  const folder = `${process.getBuiltinModule("node:os").tmpdir()}/prloom-${uid}`;
  if (!folder.startsWith("/") || !isOurs(folder, uid)) return undefined;
  enableCompileCache(`${folder}/compiled`);
  return getCompileCacheDir();
}

/** No other user can put anything there, nor put something else in its place. */
function isOurs(folder: string, uid: number): boolean {
  const { lstatSync, mkdirSync } = process.getBuiltinModule("node:fs");
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // It is there, or cannot be: that is seen below.
  }
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === uid && (found.mode & 0o022) === 0;
}
