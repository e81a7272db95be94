import { splitNul } from "./output.ts";
import { gitAt, type Repository } from "./repository.ts";

export interface FoundFile {
  readonly name: string;
  readonly text: string;
}

interface Wanted {
  readonly commit: string;
  /** At the top of the tree, in order of preference. */
  readonly names: readonly string[];
  readonly mostBytes: number;
}

/** Answers do not change: a commit is what it is. */
const known = new Map<string, FoundFile | undefined>();
const MOST_KNOWN = 200;

/** The first of some files that a commit has, cut at a size; links are none. */
export async function fileAt(repo: Repository, wanted: Wanted): Promise<FoundFile | undefined> {
  const key = JSON.stringify([repo.commonDir, wanted]);
  if (known.has(key)) return known.get(key);
  if (known.size >= MOST_KNOWN) known.clear();
  const found = await read(repo, wanted);
  known.set(key, found);
  return found;
}

async function read(repo: Repository, { commit, names, mostBytes }: Wanted): Promise<FoundFile | undefined> {
  const { stdout } = await gitAt(repo, ["ls-tree", "-z", commit, "--", ...names]);
  const blobs = new Map<string, string>();
  for (const entry of splitNul(stdout)) {
    const [facts = "", path = ""] = entry.split("\t");
    const [mode = "", type, sha = ""] = facts.split(" ");
    if (type === "blob" && mode.startsWith("100")) blobs.set(path, sha);
  }
  const name = names.find((one) => blobs.has(one));
  if (name === undefined) return undefined;
  const text = (await gitAt(repo, ["cat-file", "blob", blobs.get(name) ?? ""])).stdout;
  return { name, text: text.length <= mostBytes ? text : `${text.slice(0, mostBytes)}\n…` };
}
