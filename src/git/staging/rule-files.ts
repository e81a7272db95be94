import { createHash } from "node:crypto";
import { posix } from "node:path";
import { placeFile } from "../../kernel/held/files.ts";
import { type HeldKind, type Treatment, walkBelow } from "../../kernel/held/walk.ts";
import { takeTurns } from "../../kernel/turns.ts";
import { GitFailure } from "../run.ts";
import { gitIn, type Worktree } from "../worktree/worktrees.ts";
import { bytesOf, entryAt, kindAt, realFolders, removeEntry } from "./tree-entries.ts";

/** Files that git itself reads in the folders that it goes through. */
const RULES = [".gitattributes", ".gitignore"];

/** Removes pipes, sockets and devices that stand where git reads its rules: it would wait for a writer. */
export async function removeUnreadableRules(worktree: Worktree, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    await takeTurns();
    for (const name of RULES) {
      const { path, kind } = entryAt(worktree, folder, name);
      if (kind === "special") removeEntry(worktree, path);
    }
  }
}

/**
 * Removes what is in the way of a checkout of these files: rules that cannot be read, and all attributes. Where there is no file
 * of attributes git goes by the index, and so by what is about to be checked out.
 */
export async function removeRules(worktree: Worktree, files: readonly string[]): Promise<void> {
  const folders = await realFolders(worktree, files);
  await removeUnreadableRules(worktree, folders);
  for (const folder of folders) {
    await takeTurns();
    const { path, kind } = entryAt(worktree, folder, ".gitattributes");
    if (kind !== "absent") removeEntry(worktree, path);
  }
}

/**
 * Does what git would wait forever for, when something is in its way deep in a folder that git does not know, or what rules of an agent
 * make it try without end. Looking for that costs the whole tree, so only a git that did not answer makes us look: first for what no one
 * waits for, then, where git answers without rules, for all rules that the commit `from` has not: also ordinary ones are too much for it
 * if there are enough of them. Where `act` does not make the rules anew, those of the commit are put in the place of what was taken away:
 * without them all is staged that they ignore.
 */
export async function unhindered<T>(worktree: Worktree, act: () => Promise<T>, from?: string): Promise<T> {
  const first = await answered(act);
  if ("answer" in first) return first.answer;
  const rules = from === undefined ? [] : await committedRules(worktree, from);
  const clear = async (isInTheWay: (rules: Buffer | undefined) => boolean): Promise<boolean> => {
    if ((await sweep(worktree, rules, isInTheWay)) === 0) return false;
    for (const rule of rules) await placeRule(worktree, rule);
    return true;
  };
  const second = (await clear(isEndless)) ? await answered(act) : first;
  if ("answer" in second) return second.answer;
  if (!(await answersWithoutRules(worktree))) throw second.error;
  const third = (await clear(() => true)) ? await answered(act) : second;
  if ("answer" in third) return third.answer;
  throw from === undefined ? third.error : await ownRulesTooSlow(worktree, rules, third.error);
}

/** What is left then are rules of the repository itself, which only a person may change. */
async function ownRulesTooSlow(
  worktree: Worktree,
  rules: readonly CommittedRule[],
  { kind, words, message }: GitFailure,
): Promise<GitFailure> {
  let worst = { stars: 0, line: "" };
  for (const { path, object } of rules) {
    const { stdout } = await gitIn(worktree, ["cat-file", "blob", object]);
    for (const [index, line] of stdout.split("\n").entries()) {
      const stars = starsIn(line);
      if (stars > worst.stars) worst = { stars, line: `line ${index + 1} of ${Buffer.from(path, "latin1")}` };
    }
  }
  const which = worst.stars === 0 ? "they are too many" : `the slowest is probably ${worst.line}`;
  return new GitFailure(kind, words, {
    message: `${message}. Without rules git answers, and those that are left are the repository's own: ${which}.`,
    hint: `Shorten the rules in ${worktree.path} (fewer \`**\`; on the base branch as well), or remove very deep folders there, then run \`prloom unblock <plan>\`.`,
  });
}

/** The answer, or that git gave none in its time. */
async function answered<T>(act: () => Promise<T>): Promise<{ answer: T } | { error: GitFailure }> {
  try {
    return { answer: await act() };
  } catch (error) {
    if (error instanceof GitFailure && error.kind === "timeout") return { error };
    throw error;
  }
}

/** Whether git gets through the tree: it is not the rules then that hold it up when it does not. */
async function answersWithoutRules(worktree: Worktree): Promise<boolean> {
  return "answer" in (await answered(() => gitIn(worktree, ["ls-files", "--others", "-z"], { encoding: "latin1" })));
}

interface CommittedRule {
  /** In latin1, as git's output has it. */
  readonly path: string;
  readonly mode: number;
  readonly object: string;
}

/** The files of rules that a commit has and that are there now: one that was removed is not put back. */
async function committedRules(worktree: Worktree, from: string): Promise<CommittedRule[]> {
  const listed = await gitIn(worktree, ["ls-tree", "-r", "-z", "--full-tree", from], { encoding: "latin1" });
  const rules: CommittedRule[] = [];
  for (const line of await listed.entries()) {
    await takeTurns();
    const [, mode = "", object = "", path = ""] = /^100(\d+) blob (\w+)\t(.*)$/s.exec(line) ?? [];
    if (!RULES.includes(posix.basename(path)) || kindAt(bytesOf(worktree, path)) === "absent") continue;
    rules.push({ path, mode: Number.parseInt(mode, 8), object });
  }
  return rules;
}

async function placeRule(worktree: Worktree, { path, mode, object }: CommittedRule): Promise<void> {
  if (kindAt(bytesOf(worktree, path)) !== "absent") return;
  const { stdout } = await gitIn(worktree, ["cat-file", "blob", object], { encoding: "latin1" });
  placeFile(worktree.path, Buffer.from(path, "latin1"), Buffer.from(stdout, "latin1"), mode);
}

/** The name under which git keeps these bytes, in a repository whose names have as many letters as this one. */
function objectOf(data: Buffer, like: string): string {
  const hash = createHash(like.length > 40 ? "sha256" : "sha1");
  return hash.update(`blob ${data.length}\0`).update(data).digest("hex");
}

/**
 * Whether git may never be done with a file of rules: with each further `**` in one of them it tries every place of a deep path anew. People
 * write up to three, and lines of stars in comments; one file that is too large to be read here is none of theirs.
 */
function isEndless(rules: Buffer | undefined): boolean {
  return (
    rules === undefined ||
    rules
      .toString("latin1")
      .split("\n")
      .some((line) => starsIn(line) > 3)
  );
}

function starsIn(line: string): number {
  return line.startsWith("#") ? 0 : line.split("**").length - 1;
}

function sweep(
  worktree: Worktree,
  committed: readonly CommittedRule[],
  isInTheWay: (rules: Buffer | undefined) => boolean,
): Promise<number> {
  const known = new Set(committed.map(({ object }) => object));
  const [like = ""] = known;
  return walkBelow(worktree.path, "", (name, kind, read) => {
    if (kind !== "file" || !RULES.includes(name)) return judgeRules(name, kind);
    const rules = read();
    const isKnown = rules !== undefined && known.has(objectOf(rules, like));
    return !isKnown && isInTheWay(rules) ? "remove" : "leave";
  });
}

/** Gives the owner back every folder of the tree, and removes rules that cannot be read and come to light there. */
export async function openFolders(worktree: Worktree): Promise<void> {
  await walkBelow(worktree.path, "", judgeRules, "leave");
}

function judgeRules(name: string, kind: HeldKind): Treatment {
  if (kind === "special" && RULES.includes(name)) return "remove";
  return name === ".git" ? "leave" : "enter";
}
