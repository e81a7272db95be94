import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { trustedPath } from "../../kernel/system/find-program.ts";
import { usedUpError } from "../../kernel/system/used-up.ts";

/**
 * Makes named pipes, all with one process; false where the file system has none. They are gone when `use` has ended. Throws when
 * the system has no process left for it: without pipes a program would begin before it is written down.
 */
export function withNamedPipes<T>(paths: readonly string[], use: (made: boolean) => T): T {
  const remove = (): void => {
    for (const path of paths) rmSync(path, { force: true });
  };
  remove();
  try {
    // Not where we are: that may be an agent's folder, and PATH relative.
    const env = { PATH: trustedPath(process.env.PATH) };
    const { status, error } = spawnSync("mkfifo", ["-m", "600", ...paths], { stdio: "ignore", cwd: "/", env });
    const known = usedUpError(error, "the start of a program");
    if (known !== error) throw known;
    return use(status === 0);
  } finally {
    remove();
  }
}
