import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { judgeWith } from "../../../src/governance/policy/judge.ts";
import { realFiles } from "../../../src/governance/policy/real-files.ts";
import { seededRandom } from "../../testing/random.ts";
import { SEED, SEED_NOTE } from "../../testing/sample.ts";
import { THOROUGH } from "../../testing/thorough.ts";
import { type Drawn, drawCommand, SINGLE_STEPS } from "./drawn-commands.ts";
import { deniedUnder, policyFor } from "./judging.ts";

const FILES = [
  ["x", "srcx", "README.md", "Makefile", "package.json", "opencode.json", "opencode.json.x", ".mcp.json", "build/list"],
  [
    "src/a.ts",
    "src/a..ts",
    "src/old.ts",
    "src/..x",
    "src/index.config",
    "src/a.opencode.json",
    "src/config",
    "src/etc/a.ts",
  ],
  ["src/sub/b.ts", "sub/x", "sub/deep/x", "sub/lnk", "packages/api/package.json"],
].flat();

/** A worktree with names that are easily taken for others, beside a folder that is not its. */
function makeTree(folder: string, links: Readonly<Record<string, string>>): string {
  const root = join(folder, "work");
  for (const name of [...FILES.map((file) => `work/${file}`), "other/in", "other/x", "bin/target"]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), "foo\n");
  }
  // What programs like xargs start; shells have it as a function.
  writeFileSync(join(folder, "bin/target"), `#!/bin/sh\n${TARGET}\n`, { mode: 0o755 });
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, stdio: "ignore" });
  git("init", "-q");
  git("add", "src", "sub", "opencode.json", "x");
  // Links that lead out are not committed.
  for (const [name, to] of Object.entries(links)) symlinkSync(to, join(root, name));
  writeFileSync(join(root, "src/a.ts"), "foo\nbar\n");
  writeFileSync(join(root, ".git/hooks/pre-commit"), "foo\n");
  return root;
}

/** Tells, beside what commands print, the folder in which it is called, and what it is called with: nothing that is drawn changes a file. */
const TARGET = 'for one; do printf "%s\\0%s\\0" "$PWD" "$one" >&4; done';
const PLAYER = `target() { ${TARGET}; }; export -f target; cd "$1"
while IFS= read -r -d "" form <&3; do ( eval "$form" ) < /dev/null &> /dev/null; printf '\\1' >&4; done 3<&0 4>&1`;

interface Used {
  readonly from: string;
  readonly name: string;
}

/** What bash gives to the places where a name is used, for each command. */
function play(commands: readonly string[], root: string): Used[][] {
  const output = execFileSync("bash", ["--norc", "-c", PLAYER, "bash", root], {
    env: { PATH: `${dirname(root)}/bin:${process.env.PATH}`, HOME: dirname(root) },
    input: commands.map((command) => `${command}\0`).join(""),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  return output.split("\u0001").map((some) => {
    const words = some.split("\0");
    return words.flatMap((from, at) =>
      at % 2 === 0 && at + 1 < words.length ? [{ from, name: words[at + 1] ?? "" }] : [],
    );
  });
}

const USES = [
  { program: "touch", into: "echo y >" },
  { program: "tee", into: "cat x >>" },
  { program: "rm -rf", into: "echo y >|" },
] as const;

/** A path part by part, as the system takes it; undefined where it leads through something that is not there. */
function resolved({ from, name }: Used, isDeleted: boolean): string | undefined {
  let at = name.startsWith("/") ? "/" : from;
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  for (const [index, part] of parts.entries()) {
    const next = part === ".." ? dirname(at) : join(at, part);
    const isLast = index === parts.length - 1;
    try {
      at = isLast && isDeleted && !name.endsWith("/") ? next : realpathSync(next);
      if (!isLast && !statSync(at).isDirectory()) return undefined;
    } catch {
      if (!isLast) return undefined;
      at = next;
    }
  }
  return at;
}

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Protected files on which something depends. */
const KEPT =
  /^(?:\.git|\.git\/(?:HEAD|config|index|hooks|hooks\/pre-commit|objects|refs|info)|opencode\.json|\.mcp\.json)$/;

/** Whether a use changes what it must not. */
function harms(used: Used, root: string, { isWide, use }: { isWide: boolean; use: string }): boolean {
  const isDeleted = use.startsWith("rm");
  const path = used.name === "" ? undefined : resolved(used, isDeleted);
  if (path === undefined || (isDeleted && !exists(path))) return false;
  // What removes folders refuses these two, what writes refuses folders, and a slash at the end is for them.
  if (isDeleted && /(?:^|\/)\.{1,2}\/*$/.test(used.name)) return false;
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder ? use !== "touch" && !isDeleted : used.name.endsWith("/")) return false;
  if (path !== root && !path.startsWith(`${root}/`)) return true;
  return !isWide && KEPT.test(path.slice(root.length + 1)) && !(use === "touch" && isFolder);
}

const judge = judgeWith(realFiles);
const COUNT = THOROUGH ? 1_000 : 80;

const LINKS = [
  { name: "no link that leads out", links: { inside: "src" } },
  {
    name: "links that lead out",
    links: { inside: "src", out: "../other", "sub/out": "../../other", "src/x": "../../other/in", lnk: "../other/x" },
  },
] as const;

for (const [at, { name, links }] of LINKS.entries())
  test(`what bash changes by names that it finds is judged, with ${name} (${SEED_NOTE})`, () => {
    const temporary = realpathSync(mkdtempSync(join(tmpdir(), "prloom-drawn-")));
    try {
      // Searches that go up a few folders stay in this one.
      const folder = join(temporary, "a/b/c");
      const root = makeTree(folder, links);
      const policy = { ...policyFor("executor"), root, home: folder, temporary: "/tmp/none", secrets: [] };
      const random = seededRandom(SEED + at);
      const drawn: readonly Drawn[] = [...SINGLE_STEPS, ...Array.from({ length: COUNT }, () => drawCommand(random))];
      const played = play(
        drawn.map(({ form }) => form.replaceAll(/USE|INTO/g, "target")),
        root,
      );
      let harmful = 0;
      const passed: string[] = [];
      for (const [index, { form, isWide }] of drawn.entries()) {
        const { program, into } = USES[index % USES.length] as (typeof USES)[number];
        const use = form.includes("INTO") ? into : program;
        const harm = played[index]?.find((used) => harms(used, root, { isWide, use }));
        if (!harm) continue;
        harmful += 1;
        const command = form.replaceAll("USE", program).replaceAll("INTO", into);
        if (deniedUnder(policy, command, root, judge) === undefined)
          passed.push(`${command}\n  in ${harm.from}: ${harm.name}`);
      }
      assert.ok(harmful > drawn.length / 60, `${harmful} of ${drawn.length} change what they must not`);
      assert.deepEqual(passed, []);
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  });
