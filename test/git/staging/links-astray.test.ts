import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { AskGit } from "../../../src/git/run.ts";
import { LIST_INDEX, linksAstray } from "../../../src/git/staging/links-astray.ts";
import { stageAll } from "../../../src/git/staging/stage.ts";
import { stagedChanges } from "../../../src/git/staging/staged-changes.ts";
import { gitIn } from "../../../src/git/worktree/worktrees.ts";
import { plainGit, planSandbox, removedAfter } from "../fixture.ts";

const boxes = removedAfter();

type Links = Readonly<Record<string, string>>;

/** Which links of an agent's are taken out; in their targets `@` is the folder above the repository. */
async function astrayOf(links: Links, before: Links = {}): Promise<string[]> {
  const box = await planSandbox();
  boxes.push(box);
  const { worktree, dir } = box;
  const make = (some: Links) => {
    for (const [path, target] of Object.entries(some)) {
      mkdirSync(dirname(join(worktree.path, path)), { recursive: true });
      symlinkSync(target.replaceAll("@", dir), Buffer.from(join(worktree.path, path), "latin1"));
    }
  };
  make(before);
  await stageAll(worktree);
  plainGit(worktree.path, "commit", "--quiet", "--allow-empty", "-m", "Before");
  make(links);
  await stageAll(worktree);
  const changed = (await stagedChanges(worktree, "HEAD")).links;
  const ask: AskGit = (args, options) => gitIn(worktree, args, options);
  return linksAstray(ask, LIST_INDEX, { changed, places: ["prloom/.local", ".trees"] });
}

const INTO = "prloom/.local/worktrees/plan/ignored/lib";

const ASTRAY: [name: string, links: Links, astray: string[], before?: Links][] = [
  ["a worktree, as seen from a checkout", { "docs/lib": `../${INTO}` }, ["docs/lib"]],
  ["a worktree by its whole path", { lib: `@/repo/${INTO}` }, ["lib"]],
  ["out of the checkout and back", { lib: `../repo/./nowhere/../${INTO}` }, ["lib"]],
  ["from a checkout that lies elsewhere", { lib: `../../../repo/${INTO}` }, ["lib"]],
  ["a cache", { lib: "@/cache/worker" }, ["lib"]],
  ["a cache under another name", { lib: "@/alias/worker" }, ["lib"]],
  ["git's folder", { lib: ".git/prloom/plans/plan/runs/1/evidence" }, ["lib"]],
  ["a folder for worktrees in the project", { lib: ".trees/plan/lib" }, ["lib"]],
  [
    "around those places, from where another link could lead on",
    { a: "prloom", "b/c": "..", d: "." },
    ["a", "b/c", "d"],
  ],
  ["in two spellings of one name", { hop: "src", HOP: "prloom/a", "src/lib": `../hop/x` }, ["HOP", "hop"]],
  ["through another spelling", { Hop: "src/deep", lib: "hop/../x" }, ["lib"]],
  ["through another spelling, to where agents write", { Hop: ".GIT", lib: "hop/x" }, ["Hop", "lib"]],
  ["in other letters", { lib: "PRLOOM/.Local/x" }, ["lib"]],
  ["where whoever follows it works", { lib: `/proc/self/cwd/${INTO}` }, ["lib"]],
  ["through another link", { hop: "src/..", "src/lib": `../hop/${INTO}` }, ["hop", "src/lib"]],
  ["through one of the commit before", { lib: `hop/${INTO}` }, ["lib"], { hop: "." }],
  ["with what the commit before leads through", { hop: "prloom" }, ["hop"], { lib: "hop/.local/x" }],
  ["as the commit before has it", { other: "a.txt" }, [], { lib: INTO }],
  ["an ignored folder, of which a checkout has its own", { lib: "ignored/lib" }, []],
  ["files, folders, and nothing", { a: "src/deep/c.ts", b: "src", c: "nowhere", d: "prloom/config.json" }, []],
  [
    "the system",
    { log: "/dev/stdout", time: "/usr/share/zoneinfo/UTC", fd: "/dev/fd/3", turned: "/usr/../home" },
    ["fd", "turned"],
  ],
  ["nobody knows where, so long it is", { lib: "a/".repeat(1500), short: "a/".repeat(50) }, ["lib"]],
  [
    "what another commit can turn there",
    { a: "src/../src/deep", b: "./src/deep/./../../src", c: "../repo/x//../src" },
    ["a", "b", "c"],
  ],
  [
    "out of the project, from wherever the next checkout lies",
    { "a/b": "../../x", c: "..", d: `./.././/../${INTO}`, "a/e": "../x", "a/f/g": "../../x" },
    ["a/b", "c", "d"],
  ],
  ["out of the project, through one of the commit before", { b: "a/src" }, ["b"], { a: "../elsewhere" }],
  ["upwards first, and names with dots", { "a/b/c": "../.././/src/...", "a/d": "../..x/y..", e: ".a/..b" }, []],
  [
    "by words that name those places, once another branch brings a link to the top",
    { a: `b/Root/${INTO}`, c: "b/root/PRLOOM/.//.local/x", d: "b/.git/x", e: "prloom/local/x", f: "b/prloom/.locals" },
    ["a", "c", "d"],
  ],
  [
    "by words of two links, through a link to the top that a checkout ignores",
    { a: "docs/node_modules/lib/Prloom/.", b: "a/.local/worktrees/plan/ignored/lib", c: "b/prlooms", d: "b/prloom/x" },
    ["a"],
  ],
  ["what can turn, but was there before", { b: "a/src" }, [], { a: "src/.." }],
  ["itself", { a: "b", b: "a", c: "c/d" }, []],
  ["under a name that is no text", { "\xff": `hop/../${INTO}` }, ["\ufffd"], { hop: "src/deep" }],
];

for (const [name, links, astray, before] of ASTRAY) {
  test(`links that lead astray: ${name}`, async () => {
    assert.deepEqual((await astrayOf(links, before)).sort(), astray);
  });
}
