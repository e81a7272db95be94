import { realpathSync } from "node:fs";
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
 * what that repository says. So no link of a commit leads to where agents write. One to an ignored folder by a relative path is
 * harmless: in a person's checkout there is nothing of the agent's.
 */

interface AgentsGround {
  /** The working trees that people have of the repository. */
  readonly checkouts: readonly string[];
  /** Folders with what agents wrote. */
  readonly places: readonly string[];
}

/** The kernel follows no more of them. */
const MAX_FOLLOWED = 40;
/** No honest link leads through more folders. Thousands of links with thousands of them each would take a quarter of an hour. */
const MAX_PARTS = 64;

/** Those of the changed links with which some link of the index leads to where agents write. Call it after `stageAll`. */
export async function linksAstray(
  worktree: Worktree,
  changed: readonly string[],
  ground: AgentsGround,
): Promise<string[]> {
  const links = await linksIn(worktree);
  const places = ground.places.flatMap((place) => [place, realPathOf(place)]).map((place) => onAnyDisk(latin1(place)));
  const isAgents = (path: string) => places.some((place) => isWithin(onAnyDisk(path), place));
  const onTheWay = new Set<string>();
  for (const checkout of ground.checkouts) {
    const walk = { links, top: latin1(checkout), isAgents };
    for (const link of links.keys()) for (const passed of await wayToAgents(link, walk)) onTheWay.add(inWords(passed));
  }
  for (const [link, target] of links) {
    await takeTurns();
    if (mayTurn(target) || leavesTree(link, target)) onTheWay.add(inWords(link));
  }
  return changed.filter((path) => onTheWay.has(path));
}

/** A `..` behind a name leads elsewhere as soon as the next commit makes a folder where a link was, which changes no link. */
const mayTurn = (target: string): boolean => /(?:^|\/)(?!\.{0,2}\/)[^/]+\/(?:\.?\/)*\.\.(?:\/|$)/.test(target);

/** Where that is depends on where the checkout lies, and people make others later: one in a folder of the first one, say. */
function leavesTree(link: string, target: string): boolean {
  const [before = ""] = /^(?:\.{0,2}\/)*(?:\.\.$)?/.exec(target) ?? [];
  const ups = before.split("/").filter((part) => part === "..").length;
  return !target.startsWith("/") && ups >= link.split("/").length;
}

interface Walk {
  /** What they lead to, by their paths in the tree; byte for byte. */
  readonly links: ReadonlyMap<string, string>;
  readonly top: string;
  readonly isAgents: (path: string) => boolean;
}

/** The links of the tree that one leads through, itself included, if it leads to where agents write. */
async function wayToAgents(link: string, { links, top, isAgents }: Walk): Promise<string[]> {
  const way: string[] = [];
  let at = above(`${top}/${link}`);
  const rest = [link.slice(link.lastIndexOf("/") + 1)];
  // Below what is not there nothing is asked for.
  let gone: string | undefined;
  for (let followed = 0, parts = 0; rest.length > 0; parts += 1) {
    await takeTurns();
    if (parts > MAX_PARTS) return way;
    const part = rest.pop() ?? "";
    if (part === "" || part === ".") continue;
    const path = part === ".." ? above(at) : `${at}/${part}`;
    if (isAgents(path)) return way;
    const inTree = path.startsWith(`${top}/`) ? path.slice(top.length + 1) : "";
    if (gone !== undefined && !isWithin(path, gone)) gone = undefined;
    const there = links.get(inTree) ?? (gone === undefined ? await targetOf(Buffer.from(path, "latin1")) : null);
    if (there === null) gone ??= path;
    const target = there ?? undefined;
    if (links.has(inTree)) way.push(inTree);
    if (target === undefined) {
      at = path;
      continue;
    }
    // Where a process works, say: for whoever follows it that is another folder.
    if (/^\/proc\/[^/]+\//.test(path) && rest.length > 0) return way;
    followed += 1;
    if (followed > MAX_FOLLOWED) return [];
    if (target.startsWith("/")) at = "";
    for (const one of target.split("/").reverse()) rest.push(one);
  }
  return [];
}

async function linksIn(worktree: Worktree): Promise<Map<string, string>> {
  const listed = await gitIn(worktree, ["ls-files", "--stage", "-z"], { encoding: "latin1" });
  const links = new Map<string, string>();
  for (const entry of await listed.entries()) {
    await takeTurns();
    if (!entry.startsWith("120000 ")) continue;
    const path = entry.slice(entry.indexOf("\t") + 1);
    const target = await targetOf(bytesOf(worktree, path));
    if (typeof target === "string") links.set(path, target);
  }
  return links;
}

/** Undefined for what is not a link, null for nothing. Without holding others up: it may lie on a disk that does not answer. */
async function targetOf(path: Buffer): Promise<string | null | undefined> {
  try {
    return (await readlink(path, "buffer")).toString("latin1");
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return errnoOf(error) === "ENOENT" ? null : undefined;
  }
}

function realPathOf(place: string): string {
  try {
    return realpathSync.native(place);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return place;
  }
}

const latin1 = (path: string): string => Buffer.from(path).toString("latin1");
const inWords = (path: string): string => Buffer.from(path, "latin1").toString("utf8");
