import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../kernel/errors.ts";
import { passedVariables } from "./surroundings.ts";

const OWNER_ALL = 0o700;

/**
 * Gives the owner back every directory below a path; links are not followed. Folders so deep that no path leads to them
 * are removed: neither git nor we could ever read them, and git stumbles over them.
 */
export async function makeWritable(path: string): Promise<void> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return;
  if ((stat.mode & OWNER_ALL) !== OWNER_ALL) chmodSync(path, (stat.mode & 0o777) | OWNER_ALL);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    try {
      await makeWritable(join(path, entry.name));
    } catch (error) {
      if (errnoOf(error) !== "ENAMETOOLONG") throw error;
      await removeDeep(path);
      return;
    }
  }
}

/** `rm` goes down folder by folder and needs no path to what lies deep; node needs one, and there is a longest path. */
async function removeDeep(path: string): Promise<void> {
  const child = spawn("rm", ["-rf", "--", path], { cwd: "/", env: passedVariables(), stdio: "pipe" });
  child.stdin.end();
  child.stdout.resume();
  let words = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    words = `${words}${text}`.slice(0, 1000);
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${path} cannot be removed: ${words.trim()}`);
}

/** Removes whatever is at a path: a link itself and not its target, and directories that were made read-only too. */
export async function removeTree(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 5 };
  try {
    await rm(path, options);
  } catch (error) {
    if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
    await makeWritable(path);
    await rm(path, options);
  }
}
