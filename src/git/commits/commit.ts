import { PrloomError } from "../../kernel/errors.ts";
import { STEP_TRAILER } from "../repository.ts";
import { gitIn, type Worktree } from "../worktree/worktrees.ts";
import { type PlainCommit, writePlainCommit } from "./write-commit.ts";

const SUBJECT_LENGTH = 72;
const FALLBACK = "Work on a TODO";

/** Control and bidirectional-override characters: invisible, and able to make a log read otherwise than it is. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

function cutAtWord(text: string): string {
  const characters = Array.from(text);
  if (characters.length <= SUBJECT_LENGTH) return text;
  const space = characters.lastIndexOf(" ", SUBJECT_LENGTH - 1);
  return `${characters.slice(0, space > SUBJECT_LENGTH / 2 ? space : SUBJECT_LENGTH - 1).join("")}…`;
}

/** Any trailer of ours, as git recognises one; what follows it indented belongs to it. */
const OUR_TRAILER = /^\s*prloom-[a-z0-9-]*\s*:/i;

/** Trailers say what prloom did: no other text gets to write one, be it in a TODO, in a title or from a hook. */
function withoutTrailers(lines: readonly string[], ours = OUR_TRAILER): string[] {
  let isDropping = false;
  return lines.filter((line) => {
    isDropping = ours.test(line) || (isDropping && /^\s+\S/.test(line));
    return !isDropping;
  });
}

/** A message that is used again, without the trailer that it may have got elsewhere. */
export function withoutTrailer(message: string, key: string): string {
  return withoutTrailers(message.split("\n"), new RegExp(`^\\s*${key}\\s*:`, "i")).join("\n");
}

/** A commit message out of any text: one subject line of at most 72 characters, the rest as its body. */
export function commitMessage(text: string, fallback: string): string {
  const lines = text
    .replace(/\r\n?/g, "\n")
    .replace(INVISIBLE, "")
    .split("\n")
    .map((line) => line.trimEnd());
  const start = lines.findIndex((line) => line.trim() !== "");
  if (start < 0) return fallback;
  const first = (lines[start] ?? "").replace(/\s+/g, " ").trim();
  const subject = cutAtWord(first);
  // The first line is a title to git, whatever it looks like; in the body it would not be.
  const whole = subject === first ? [] : withoutTrailers([first]);
  // Not by an expression for both ends: looked for from each of many blank lines, the end takes time with their square.
  const rest = withoutTrailers(lines.slice(start + 1))
    .join("\n")
    .replace(/^\n+/, "")
    .trimEnd();
  const body = [...whole, ...(rest === "" ? [] : [rest])];
  return [subject, ...body].join("\n\n");
}

/** A message that the user's hooks have seen, as they left it; only what would pass for a word of ours is taken out. */
function hookedMessage(text: string, fallback: string): string {
  const lines = text.replace(/\r\n?/g, "\n").replace(INVISIBLE, "").split("\n");
  const kept = withoutTrailers(lines).join("\n").trim();
  return kept === "" ? fallback : kept;
}

/** Trailers are one paragraph, the last: other programs look for theirs only there. */
function withTrailer(message: string, trailer: string): string {
  const [subject, ...paragraphs] = message.split(/\n{2,}/);
  const last = paragraphs.at(-1)?.split("\n") ?? [];
  const isTrailers = subject !== undefined && last.length > 0 && last.every((line) => /^[A-Za-z0-9-]+: /.test(line));
  return `${message}${isTrailers ? "\n" : "\n\n"}${trailer}\n`;
}

export interface StepName {
  readonly uid: string;
  readonly todoId: string;
}

export interface StepCommit {
  /** The TODO's text, or with `hooked` the message that the user's hooks left. */
  readonly message: string;
  /** What it says where it goes: the last thing that is done to it. */
  readonly said?: ((message: string) => string) | undefined;
  readonly hooked?: boolean;
  /** By name: HEAD is the agent's to move, and so is whatever a check it wrote leaves there. */
  readonly branch: string;
  readonly trailer: StepName & { readonly attempt: number };
  /** Stands before our own trailer, unless the message has it. */
  readonly signoff?: string | undefined;
  /** From `commitIdentity`. */
  readonly identity: Readonly<Record<string, string>>;
  readonly allowEmpty: boolean;
  /** What `stagedTree` gave when the work was verified; the index is asked when absent. */
  readonly tree?: string | undefined;
  /** The commit that the branch stands at; git is asked when absent. */
  readonly parent?: string | undefined;
}

/** Writes what is staged as a tree that can be committed later, whatever happens to the index until then. */
export async function stagedTree(worktree: Worktree): Promise<string> {
  return (await gitIn(worktree, ["write-tree"])).stdout.trim();
}

/**
 * Commits what is staged on top of HEAD and returns the commit. Made by plumbing: no hook, template, signature or
 * leftover of a merge has a say, and the branch moves only if it still is where we saw it.
 */
export async function commitStep(worktree: Worktree, step: StepCommit): Promise<string> {
  const ask = async (rev: string) => (await gitIn(worktree, ["rev-parse", "--verify", rev])).stdout.trim();
  const head = step.parent ?? (await ask("HEAD^{commit}"));
  const tree = step.tree ?? (await stagedTree(worktree));
  if (!step.allowEmpty && tree === (await ask(`${head}^{tree}`))) {
    throw new PrloomError("git-failed", "There is nothing to commit.", "See what the run did with `prloom logs`.");
  }
  const { uid, todoId, attempt } = step.trailer;
  const { signoff } = step;
  const isSigned = signoff === undefined || step.message.split("\n").includes(signoff);
  const trailer = `${isSigned ? "" : `${signoff}\n`}${STEP_TRAILER}: ${uid}/${todoId}/${attempt}`;
  const { said = (text) => text } = step;
  const message = step.hooked
    ? withTrailer(said(hookedMessage(step.message, FALLBACK)), trailer)
    : `${said(commitMessage(step.message, FALLBACK))}\n\n${trailer}\n`;
  const commit = { branch: step.branch, tree, parent: head, message, identity: step.identity, why: "prloom: step" };
  return (await writePlainCommit(worktree, commit)) ?? (await commitByGit(worktree, commit));
}

async function commitByGit(worktree: Worktree, commit: PlainCommit): Promise<string> {
  const { branch, tree, parent, message: input, identity: env, why } = commit;
  const made = await gitIn(worktree, ["commit-tree", tree, "-p", parent, "-F", "-"], { input, env });
  const sha = made.stdout.trim();
  await gitIn(worktree, ["update-ref", "--no-deref", "-m", why, `refs/heads/${branch}`, sha, parent], { env });
  return sha;
}

/**
 * The commit of a TODO between `baseSha` and the branch's tip, whatever the attempt. An agent can write such a trailer, so it must
 * be the commit that we make: on `baseSha`, with the tree that was verified.
 */
export async function findStepCommit(
  worktree: Worktree,
  step: StepName & { readonly baseSha: string; readonly branch: string; readonly tree?: string | undefined },
): Promise<string | undefined> {
  const format = `--format=%H%n%P%n%T%n%(trailers:key=${STEP_TRAILER},valueonly,separator=%x2C)`;
  const log = await gitIn(worktree, ["log", "-z", format, `${step.baseSha}..refs/heads/${step.branch}`]);
  for (const entry of log.stdout.split("\0")) {
    const [sha, parents, tree, trailer] = entry.split("\n");
    const isOurs = parents === step.baseSha && (step.tree === undefined || tree === step.tree);
    if (isOurs && trailer?.startsWith(`${step.uid}/${step.todoId}/`)) return sha;
  }
  return undefined;
}
