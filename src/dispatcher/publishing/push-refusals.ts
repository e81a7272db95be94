import { lined } from "../../git/output.ts";
import { gitAt, type Repository } from "../../git/repository.ts";
import { listed } from "../../kernel/text/words.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Located } from "../paths.ts";
import { isRunByCi } from "./level.ts";

interface PushRefusal {
  readonly reason: string;
  readonly hint: string;
}

/** What a person has to look at before it is pushed: files that CI runs with its secrets, and files whose content git does not push. */
export async function whyNotPushed(
  { repo }: Located,
  record: PlanRecord,
  sha: string,
): Promise<PushRefusal | undefined> {
  const { id, published, baseSha = "" } = record;
  let unseen = await changedBetween(repo, baseSha, sha);
  // What a person allowed, and what is there already: a person pushed it, or saw it before we did.
  for (const known of [published?.allowed, published?.sha]) {
    if (known === undefined) continue;
    const since = new Set((await changedBetween(repo, known, sha)).map(({ path }) => path));
    unseen = unseen.filter(({ path }) => since.has(path));
  }
  const ci = unseen.map(({ path }) => path).filter(isRunByCi);
  const look = `Look at them (\`git diff ${baseSha.slice(0, 8)} ${sha.slice(0, 8)}\`)`;
  if (ci.length > 0) {
    const reason = `It changes what CI runs with the secrets of the repository: ${listed(ci)}. A person has to say yes before that is pushed.`;
    return { reason, hint: `${look}; \`prloom unblock ${id}\` says yes to this commit.` };
  }
  const large = await pointersAmong(repo, unseen);
  if (large.length === 0) return undefined;
  const reason = `The content of these files is in Git LFS, which prloom does not push: ${listed(large)}.`;
  return {
    reason,
    hint: `Push it yourself (\`git lfs push origin ${record.branch}\`), then run \`prloom unblock ${id}\`.`,
  };
}

/** What people are told where the account of the token may not push at all. */
export const NO_FORKS =
  "prloom makes no pull requests from forks: the account of the token has to have write permission in the repository itself, and the token, too (`prloom doctor` tries it)";

export const pushHint = (id: string, mayNotWrite = false): string =>
  mayNotWrite
    ? `${NO_FORKS}. Give it that, then run \`prloom unblock ${id}\`.`
    : `Change that on the server, or what is pushed; then run \`prloom unblock ${id}\`.`;

interface Changed {
  readonly path: string;
  /** What it is now; of a file that is gone only zeros. */
  readonly object: string;
}

async function changedBetween(repo: Repository, from: string, to: string): Promise<Changed[]> {
  const args = ["diff-tree", "-r", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none", from, to];
  const entries = await (await gitAt(repo, args)).entries();
  const changed: Changed[] = [];
  for (let at = 0; at + 1 < entries.length; at += 2) {
    const [, , , object = ""] = (entries[at] ?? "").split(" ");
    changed.push({ path: entries[at + 1] ?? "", object });
  }
  return changed;
}

const POINTER = "version https://git-lfs.github.com/spec/";
/** Those of git-lfs are not longer. */
const MAX_POINTER = 1024;

/** So many are read at once. */
const AT_ONCE = 20_000;

/** Asked by content: an attribute says what should be a pointer, and not what is one. */
async function pointersAmong(repo: Repository, changed: readonly Changed[]): Promise<string[]> {
  const ask = async (how: string, objects: Iterable<string>): Promise<string> =>
    (await gitAt(repo, ["cat-file", how], { input: lined(objects, "\n"), encoding: "latin1" })).stdout;
  const format = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
  const known = (await ask(format, new Set(changed.map(({ object }) => object)))).split("\n");
  const small = known.map((line) => line.split(" ")).filter(([, type, size]) => type === "blob" && isSmall(size));
  const pointers = new Set<string>();
  for (let from = 0; from < small.length; from += AT_ONCE) {
    const some = small.slice(from, from + AT_ONCE);
    const text = await ask(
      "--batch",
      some.map(([object = ""]) => object),
    );
    let at = 0;
    for (const [object = "", , size] of some) {
      // Each stands behind a line about it, and before the end of a line.
      const begin = text.indexOf("\n", at) + 1;
      if (text.startsWith(POINTER, begin)) pointers.add(object);
      at = begin + Number(size) + 1;
    }
  }
  return changed.filter(({ object }) => pointers.has(object)).map(({ path }) => path);
}

const isSmall = (size: string | undefined): boolean => Number(size) >= POINTER.length && Number(size) <= MAX_POINTER;
