import { PrloomError } from "../../kernel/errors.ts";
import { isWithin } from "../../kernel/paths.ts";
import { takeTurns } from "../../kernel/turns.ts";
import { lined } from "../output.ts";
import type { AskGit } from "../run.ts";
import { above } from "./paths-above.ts";
import { onAnyDisk } from "./repository-shape.ts";

/*
 * What git ignores is in no commit, and nobody looks at it: an agent can make a repository there, in its worktree, its home or its
 * cache. A link that is committed leads a person there who only means to enter a folder of the project, and then their git runs
 * what that repository says. So a new link leads to something of the project, by what the commit itself says: what lies around a
 * checkout is not asked, since people make others, elsewhere, later. An ignored folder is one of the project's: in a person's
 * checkout there is nothing of the agent's.
 */

/** The kernel follows no more of them. */
const MAX_FOLLOWED = 40;
/** No honest link leads through more folders. Thousands of links with thousands of them each would take a quarter of an hour. */
const MAX_PARTS = 64;
/** What the system has everywhere, and no agent writes. */
const SYSTEM = /^\/(?:usr\/|dev\/(?:null|zero|full|u?random|tty|stdin|stdout|stderr)$)/;

/** So many targets are read at once; none that was on a disk has more than 4,095 bytes. */
const READ_AT_ONCE = 4096;

/** What prints the files of an index, or of a commit, one entry each as `linksAstray` takes them. */
export const LIST_INDEX = ["ls-files", "--stage", "-z"];
export const listCommit = (commit: string) => ["ls-tree", "-r", "-z", "--full-tree", commit];

/**
 * Those of the changed links with which some link of what `list` prints leads out of the project, or to where agents write:
 * `.git`, and `places` below the top.
 */
export async function linksAstray(
  ask: AskGit,
  list: readonly string[],
  { changed, places }: { readonly changed: readonly string[]; readonly places: readonly string[] },
): Promise<string[]> {
  const ground = [".git", ...places].map((place) => onAnyDisk(Buffer.from(place).toString("latin1")));
  const { links, astray } = await linksIn(ask, list, ground);
  for (const link of links.values()) for (const passed of await wayAstray(link, links, ground)) astray.add(passed);
  const names = new Set([...astray].map((path) => Buffer.from(path, "latin1").toString("utf8")));
  return changed.filter((path) => names.has(path));
}

/** Paths are byte for byte. */
interface Link {
  readonly path: string;
  readonly target: string;
}

/** By their paths as any disk takes them. */
type Links = ReadonlyMap<string, Link>;

interface FoundLinks {
  readonly links: Links;
  /** Which lead astray whatever the others do. */
  readonly astray: Set<string>;
}

async function linksIn(ask: AskGit, list: readonly string[], ground: readonly string[]): Promise<FoundLinks> {
  const links = new Map<string, Link>();
  const astray = new Set<string>();
  for (const { path, target } of await readLinks(ask, list)) {
    await takeTurns();
    const other = links.get(onAnyDisk(path));
    // Which of the two it is depends on the disk.
    for (const one of other ? [other.path, path] : []) astray.add(one);
    if (mayTurn(target) || namesOne(target, ground)) astray.add(path);
    links.set(onAnyDisk(path), { path, target });
  }
  return { links, astray };
}

async function readLinks(ask: AskGit, list: readonly string[]): Promise<Link[]> {
  const found: { path: string; object: string }[] = [];
  for (const entry of await (await ask(list, { encoding: "latin1" })).entries()) {
    await takeTurns();
    const object = /^120000 (?:blob )?([0-9a-f]+)/.exec(entry)?.[1];
    if (object !== undefined) found.push({ path: entry.slice(entry.indexOf("\t") + 1), object });
  }
  const links: Link[] = [];
  for (let from = 0; from < found.length; from += READ_AT_ONCE) {
    const some = found.slice(from, from + READ_AT_ONCE);
    const input = lined(
      some.map(({ object }) => object),
      "\n",
    );
    const { stdout } = await ask(["cat-file", "--batch=%(objectsize)"], { input, encoding: "latin1" });
    let at = 0;
    for (const { path, object } of some) {
      const start = stdout.indexOf("\n", at) + 1;
      const end = start + Number(stdout.slice(at, start));
      if (Number.isNaN(end)) throw new PrloomError("git-failed", `${object} is missing.`, "Look with `git fsck`.");
      links.push({ path, target: stdout.slice(start, end) });
      at = end + 1;
    }
  }
  return links;
}

/** A `..` behind a name leads elsewhere as soon as the next commit makes a folder where a link was, which changes no link. */
const mayTurn = (target: string): boolean => /(?:^|\/)(?!\.{0,2}\/)[^/]+\/(?:\.?\/)*\.\.(?:\/|$)/.test(target);

/**
 * Whatever stands before it: what is nothing here may be a link to the top, with what another branch brings or with what is ignored
 * in a checkout (`node_modules` has such links). A link to the beginning of a place is one too: the next link names the rest.
 */
function namesOne(target: string, ground: readonly string[]): boolean {
  const words = `/${onAnyDisk(target)}/`.replace(/\/(?:\.?\/)+/g, "/");
  return ground.some((place) => words.includes(`/${place}/`) || endsInBeginning(words, place));
}

function endsInBeginning(words: string, place: string): boolean {
  for (let start = above(place); start !== ""; start = above(start)) if (words.endsWith(`/${start}/`)) return true;
  return false;
}

/** The links that one leads through, itself included, if it leads astray; one that leads around those places, another could lead on from. */
async function wayAstray({ path }: Link, links: Links, ground: readonly string[]): Promise<string[]> {
  const way: string[] = [];
  const rest = [path.slice(path.lastIndexOf("/") + 1)];
  // As disks have it, name by name: the whole of it again at each name would take minutes for thousands of long ones.
  let at = onAnyDisk(above(path));
  for (let parts = 0; rest.length > 0; parts += 1) {
    await takeTurns();
    if (parts > MAX_PARTS) return way;
    const part = rest.pop() ?? "";
    if (part === "" || part === ".") continue;
    if (part === ".." && at === "") return way;
    const next = part === ".." ? above(at) : at === "" ? onAnyDisk(part) : `${at}/${onAnyDisk(part)}`;
    if (ground.some((place) => isWithin(next, place))) return way;
    const link = links.get(next);
    if (!link) {
      at = next;
      continue;
    }
    way.push(link.path);
    if (way.length > MAX_FOLLOWED) return [];
    if (link.target.startsWith("/")) return SYSTEM.test(link.target) ? [] : way;
    for (const one of link.target.split("/").reverse()) rest.push(one);
  }
  return at === "" || ground.some((place) => isWithin(place, at)) ? way : [];
}
