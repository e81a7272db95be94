import { spawn } from "node:child_process";
import { once } from "node:events";
import { basename, dirname } from "node:path";
import { removeLittle, walkBelow } from "../kernel/held-removal.ts";
import { passedVariables } from "./surroundings.ts";

/**
 * Gives the owner back every directory below a path; links are not followed. Folders so deep that nobody works in them
 * are removed: git stumbles over them.
 */
export async function makeWritable(path: string): Promise<void> {
  await walkBelow(dirname(path), basename(path), () => "enter");
}

/** `rm` goes down folder by folder: it is led nowhere else, needs no path to what lies deep, and nobody stands still for it. */
async function removeMuch(path: string): Promise<string | undefined> {
  const child = spawn("rm", ["-rf", "--", path], { cwd: "/", env: passedVariables(), stdio: "pipe" });
  child.stdin.end();
  child.stdout.resume();
  let words = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    words = `${words}${text}`.slice(0, 1000);
  });
  const [code] = await once(child, "close");
  return code === 0 ? undefined : `${path} cannot be removed: ${words.trim()}`;
}

/**
 * Removes whatever is at a path: a link itself and not its target, and directories that were made read-only too. The folder
 * that it lies in must be one that no agent writes to.
 */
export async function removeTree(path: string): Promise<void> {
  if (removeLittle(dirname(path), basename(path)) || (await removeMuch(path)) === undefined) return;
  await makeWritable(path);
  const problem = await removeMuch(path);
  if (problem !== undefined) throw new Error(problem);
}
