import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs a test with a directory of its own that is removed afterwards. */
export async function inTemporary<T>(test: (dir: string) => T | Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), "prloom-bus-"));
  try {
    return await test(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
