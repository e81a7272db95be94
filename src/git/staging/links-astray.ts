import { readlink } from "node:fs/promises";
import { errnoOf } from "../../kernel/errors.ts";
import { isWithin } from "../../kernel/paths.ts";
import { takeTurns } from "../../kernel/turns.ts";
import { gitIn, type Worktree } from "../worktree/worktrees.ts";
import { above } from "./paths-above.ts";
import { onAnyDisk } from "./repository-shape.ts";
import { bytesOf } from "./tree-entries.ts";

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

/**
 * Those of the changed links with which some link of the index leads out of the project, or to where agents write: `.git`, and
 * `places` below the top. Call it after `stageAll`.
 */
export async function linksAstray(
  worktree: Worktree,
  changed: readonly string[],
  places: readonly string[],
): Promise<string[]> {
  const ground = [".git", ...places].map((place) => onAnyDisk(Buffer.from(place).toString("latin1")));
  const { links, astray } = await linksIn(worktree, ground);
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

interface StagedLinks {
  readonly links: Links;
  /** Which lead astray whatever the others do. */
  readonly astray: Set<string>;
}

async function linksIn(worktree: Worktree, ground: readonly string[]): Promise<StagedLinks> {
  const listed = await gitIn(worktree, ["ls-files", "--stage", "-z"], { encoding: "latin1" });
  const links = new Map<string, Link>();
  const astray = new Set<string>();
  for (const entry of await listed.entries()) {
    await takeTurns();
    if (!entry.startsWith("120000 ")) continue;
    const path = entry.slice(entry.indexOf("\t") + 1);
    const target = await targetOf(bytesOf(worktree, path));
    if (target === undefined) continue;
    const other = links.get(onAnyDisk(path));
    // Which of the two it is depends on the disk.
    for (const one of other ? [other.path, path] : []) astray.add(one);
    if (mayTurn(target) || namesOne(target, ground)) astray.add(path);
    links.set(onAnyDisk(path), { path, target });
  }
  return { links, astray };
}

/** A `..` behind a name leads elsewhere as soon as the next commit makes a folder where a link was, which changes no link. */
const mayTurn = (target: string): boolean => /(?:^|\/)(?!\.{0,2}\/)[^/]+\/(?:\.?\/)*\.\.(?:\/|$)/.test(target);

/** Whatever stands before it: what is nothing here may be a link to the top with what another branch brings. */
function namesOne(target: string, ground: readonly string[]): boolean {
  const words = `/${onAnyDisk(target)}/`.replace(/\/(?:\.?\/)+/g, "/");
  return ground.some((place) => words.includes(`/${place}/`));
}

/** The links that one leads through, itself included, if it leads astray; one that leads around those places, another could lead on from. */
async function wayAstray({ path }: Link, links: Links, ground: readonly string[]): Promise<string[]> {
  const way: string[] = [];
  const rest = [path.slice(path.lastIndexOf("/") + 1)];
  let at = above(path);
  for (let parts = 0; rest.length > 0; parts += 1) {
    await takeTurns();
    if (parts > MAX_PARTS) return way;
    const part = rest.pop() ?? "";
    if (part === "" || part === ".") continue;
    if (part === ".." && at === "") return way;
    const next = part === ".." ? above(at) : at === "" ? part : `${at}/${part}`;
    const name = onAnyDisk(next);
    if (ground.some((place) => isWithin(name, place))) return way;
    const link = links.get(name);
    if (!link) {
      at = next;
      continue;
    }
    way.push(link.path);
    if (way.length > MAX_FOLLOWED) return [];
    if (link.target.startsWith("/")) return SYSTEM.test(link.target) ? [] : way;
    for (const one of link.target.split("/").reverse()) rest.push(one);
  }
  const end = onAnyDisk(at);
  return end === "" || ground.some((place) => isWithin(place, end)) ? way : [];
}

/** Without holding others up: it may lie on a disk that does not answer. */
async function targetOf(path: Buffer): Promise<string | undefined> {
  try {
    return (await readlink(path, "buffer")).toString("latin1");
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
