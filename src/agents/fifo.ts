import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";

/** Makes named pipes, all with one process; false where the file system has none. They are gone when `use` has ended. */
export function withFifos<T>(paths: readonly string[], use: (made: boolean) => T): T {
  const remove = (): void => {
    for (const path of paths) rmSync(path, { force: true });
  };
  remove();
  try {
    return use(spawnSync("mkfifo", ["-m", "600", ...paths], { stdio: "ignore" }).status === 0);
  } finally {
    remove();
  }
}
