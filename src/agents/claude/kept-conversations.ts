import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { existsNoFollow } from "../../kernel/files.ts";
import { moveBetween } from "../../kernel/held/files.ts";
import { removeFrom } from "../../kernel/removal/remove-held.ts";

/*
 * What Claude Code keeps of a conversation is more than what was said: lines beside that say in which folder it goes on, as which
 * agent, and in which mode. A run can write those. One of them took the next run out of its worktree, into a folder that the run had
 * made, with the instructions that lay there. So the next run gets the lines of what was said, and no others. Nor one of a call that a
 * hook put off: the program makes that call before its model is asked, and then takes every other one of the run for cancelled.
 */

const FOLDER = ".claude/projects";
export const KEPT_CONVERSATIONS = `${FOLDER}/*/*.jsonl`;

/** With what stands in the place of outputs that were too long. */
const SAID = ["user", "assistant", "system", "attachment", "summary", "content-replacement"];

/** A conversation is far smaller. */
const MAX_BYTES = 256 * 1024 * 1024;
/** So is a line of one: what is read of many small values takes fifty times their room. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Folders and files. */
const MAX_NAMES = 1000;
const DEADLINE_MS = 15_000;

/**
 * In a process of its own, that can be ended: an agent decides what has to be read. Each line is written anew, so that it says to no
 * reader anything else than to this one.
 */
const COPY = `
const { closeSync, constants, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } = require("node:fs");
const { join } = require("node:path");
const [from, to, below, kinds] = process.argv.slice(1);
const said = new Set(JSON.parse(kinds));
const parsed = (line) => { try { return JSON.parse(line); } catch { return null; } };
function copy(source, made) {
  const bytes = readFileSync(openSync(source, constants.O_RDONLY | constants.O_NOFOLLOW));
  const out = openSync(made, "wx", 0o600);
  for (let start = 0, end; start < bytes.length; start = end + 1) {
    end = bytes.indexOf(10, start);
    if (end < 0) end = bytes.length;
    if (end - start > ${MAX_LINE_BYTES}) throw new Error("too large");
    const line = parsed(bytes.toString("utf8", start, end));
    if (said.has(line?.type) && line.attachment?.type !== "hook_deferred_tool") writeSync(out, JSON.stringify(line) + "\\n");
  }
  closeSync(out);
}
let left = ${MAX_BYTES};
let names = ${MAX_NAMES};
const taken = (size) => {
  left -= size;
  names -= 1;
  if (left < 0 || names < 0) throw new Error("too large");
};
for (const folder of readdirSync(join(from, below), { withFileTypes: true })) {
  if (!folder.isDirectory()) continue;
  taken(0);
  mkdirSync(join(to, below, folder.name), { recursive: true, mode: 0o700 });
  for (const file of readdirSync(join(from, below, folder.name), { withFileTypes: true })) {
    if (!file.isFile()) continue;
    const path = join(below, folder.name, file.name);
    taken(lstatSync(join(from, path)).size);
    copy(join(from, path), join(to, path));
  }
}
`;

/** Makes the conversations of a private home anew, in which nothing runs; where that cannot be done, there are none. */
export async function renewConversations(home: string, scratch: string): Promise<void> {
  if (!existsNoFollow(join(home, FOLDER))) return;
  const made = join(scratch, "conversations");
  rmSync(made, { recursive: true, force: true });
  const isMade = await copied(home, made);
  removeFrom(home, FOLDER);
  if (isMade) moveBetween(made, home, FOLDER);
  rmSync(made, { recursive: true, force: true });
}

async function copied(from: string, to: string): Promise<boolean> {
  const args = ["-e", COPY, "--", from, to, FOLDER, JSON.stringify(SAID)];
  const options = { cwd: "/", env: {}, timeout: DEADLINE_MS, killSignal: "SIGKILL" } as const;
  return promisify(execFile)(process.execPath, args, options).then(
    () => true,
    () => false,
  );
}
