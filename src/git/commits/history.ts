import { splitNul } from "../output.ts";
import { gitAt, isAncestor, type Repository, STEP_TRAILER } from "../repository.ts";

export interface FileStat {
  readonly path: string;
  /** Lines; 0 and 0 for a binary file. */
  readonly added: number;
  readonly removed: number;
}

export interface DiffStat {
  readonly files: FileStat[];
  readonly added: number;
  readonly removed: number;
}

export interface Range {
  readonly base: string;
  readonly head: string;
}

/**
 * Where a branch left its base: what others brought there since is not its own. That is where it `began`, unless a person rebased it
 * or merged base into it since; and of a branch that base has whole, too.
 */
export async function whereLeft(
  repo: Repository,
  { base, began, head }: { readonly base: string; readonly began: string; readonly head: string },
): Promise<string> {
  const found = await gitAt(repo, ["merge-base", `refs/heads/${base}`, head], { allowExit: [1, 128] });
  const shared = found.stdout.trim();
  if (found.code !== 0 || shared === head || shared === began) return began;
  return (await isAncestor(repo, shared, began)) && (await isAncestor(repo, began, head)) ? began : shared;
}

/** The same of a branch that may not be there yet. */
export async function ownRange(
  repo: Repository,
  { base = "", began, head }: { base?: string | undefined; began?: string | undefined; head?: string | undefined },
): Promise<Range | undefined> {
  return began && head ? { base: await whereLeft(repo, { base, began, head }), head } : undefined;
}

/** Without programs that the config of an agent might name. */
function diffArguments(options: readonly string[], { base, head }: Range): string[] {
  const safe = ["--no-ext-diff", "--no-textconv", "--ignore-submodules=none"];
  return ["diff", "-M", ...safe, ...options, `${base}...${head}`, "--"];
}

/** What `head` changed since it left `base`, as a patch that can be applied: byte for byte. */
export async function readDiff(repo: Repository, range: Range, options: readonly string[]): Promise<Buffer> {
  const args = diffArguments(["--no-color", ...options], range);
  return Buffer.from((await gitAt(repo, args, { encoding: "latin1" })).stdout, "latin1");
}

/** The same as numbers. */
export async function diffStat(repo: Repository, base: string, head: string): Promise<DiffStat> {
  const fields = await (await gitAt(repo, diffArguments(["--numstat", "-z"], { base, head }))).entries();
  const files: FileStat[] = [];
  for (let index = 0; index < fields.length; index += 1) {
    const [added = "", removed = "", name = ""] = (fields[index] ?? "").split("\t");
    let path = name;
    if (name === "") {
      // A rename has its two paths in the two fields that follow.
      path = fields[index + 2] ?? "";
      index += 2;
    }
    files.push({ path, added: Number(added) || 0, removed: Number(removed) || 0 });
  }
  const sum = (key: "added" | "removed") => files.reduce((total, file) => total + file[key], 0);
  return { files, added: sum("added"), removed: sum("removed") };
}

export interface CommitSummary {
  readonly sha: string;
  readonly subject: string;
  /** `<uid>/<todoId>/<attempt>` of a step's commit. */
  readonly trailer?: string;
}

/** The commits that are in `head` and not in `base`, oldest first. */
export async function commitsBetween(repo: Repository, base: string, head: string): Promise<CommitSummary[]> {
  const format = `--format=%H%n%s%n%(trailers:key=${STEP_TRAILER},valueonly,separator=%x2C)`;
  const log = await gitAt(repo, ["log", "-z", "--reverse", format, `${base}..${head}`, "--"]);
  return splitNul(log.stdout).map((entry) => {
    const [sha = "", subject = "", trailer = ""] = entry.split("\n");
    return { sha, subject, ...(trailer === "" ? {} : { trailer }) };
  });
}
