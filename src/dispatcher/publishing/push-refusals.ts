import { gitAt, type Repository } from "../../git/repository.ts";
import { listed } from "../../kernel/words.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Located } from "../paths.ts";
import { isRunByCi } from "./level.ts";

interface Refusal {
  readonly reason: string;
  readonly hint: string;
}

/** What a person has to look at before it is pushed: files that CI runs with its secrets, and files whose content git does not push. */
export async function whyNotPushed({ repo }: Located, record: PlanRecord, sha: string): Promise<Refusal | undefined> {
  const { id, published, baseSha = "" } = record;
  const own = await changedBetween(repo, baseSha, sha);
  const since = published?.allowed === undefined ? own : await changedBetween(repo, published.allowed, sha);
  const unseen = own.filter((path) => since.includes(path));
  const ci = unseen.filter(isRunByCi);
  const look = `Look at them (\`git diff ${baseSha.slice(0, 8)} ${sha.slice(0, 8)}\`)`;
  if (ci.length > 0) {
    const reason = `It changes what CI runs with the secrets of the repository: ${listed(ci)}. A person has to say yes before that is pushed.`;
    return { reason, hint: `${look}; \`prloom unblock ${id}\` says yes to this commit.` };
  }
  const large = await pointersAmong(repo, sha, unseen);
  if (large.length === 0) return undefined;
  const reason = `The content of these files is in Git LFS, which prloom does not push: ${listed(large)}.`;
  return {
    reason,
    hint: `Push it yourself (\`git lfs push origin ${record.branch}\`), then run \`prloom unblock ${id}\`.`,
  };
}

export const pushHint = (id: string): string =>
  `Change that on the server, or what is pushed; then run \`prloom unblock ${id}\`.`;

async function changedBetween(repo: Repository, from: string, to: string): Promise<string[]> {
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--ignore-submodules=none", from, to];
  return (await gitAt(repo, args)).entries();
}

const POINTER = "version https://git-lfs.github.com/spec/";

async function pointersAmong(repo: Repository, sha: string, paths: readonly string[]): Promise<string[]> {
  // Asked by content: an attribute says what should be a pointer, and not what is one.
  const args = ["grep", "-l", "-z", "--full-name", "-F", "-e", POINTER, sha, "--"];
  const found = await (await gitAt(repo, args, { allowExit: [1] })).entries();
  const pointers = new Set(found.map((name) => name.slice(sha.length + 1)));
  return paths.filter((path) => pointers.has(path));
}
