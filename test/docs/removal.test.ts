import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { git, testRepository } from "../cli/fixture.ts";
import { CLI, NODE_FLAGS } from "../testing/program.ts";
import { thorough } from "../testing/thorough.ts";

const guide = readFileSync(new URL("../../docs/guide.md", import.meta.url), "utf8");

test("the guide's way to take prloom out of a repository leaves nothing", thorough, async (t) => {
  const repository = testRepository();
  t.after(() => repository.close());
  const { root, run } = repository;
  git(root, "add", "-A");
  git(root, "commit", "-qm", "with prloom");
  await run(["init"]);
  await run(["new", "In review", "--todo", "one", "--queue"]);
  await run(["new", "Merged", "--todo", "two", "--queue"]);
  assert.equal((await run(["start", "--until-idle"])).code, 0);
  await run(["merge", "merged"]);
  writeFileSync(join(root, "prloom", ".local", "worktrees", "in-review", "by-hand.txt"), "left\n");
  const config = join(root, "prloom", "config.json");
  writeFileSync(config, `${readFileSync(config, "utf8")}\n`);
  // As `homes` and caches of agents are named; a repository beside it has its own.
  const own = createHash("sha256")
    .update(join(realpathSync(root), ".git"))
    .digest("hex")
    .slice(0, 16);
  const folders = [".local/state", ".cache"].map((below) => join(root, below, "prloom"));
  for (const folder of folders) for (const name of [own, "another"]) mkdirSync(join(folder, name), { recursive: true });
  const [, recipe = ""] = /take prloom out of a repository[^`]*```sh\n([^`]+)```/.exec(guide) ?? [];
  assert.match(recipe, /^prloom stop$/m);
  const bin = join(root, "..", "bin");
  mkdirSync(bin);
  const program = [process.execPath, ...NODE_FLAGS, CLI].map((word) => `'${word}'`).join(" ");
  writeFileSync(join(bin, "prloom"), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, HOME: root, PRLOOM_WATCHDOG_MS: "0" };
  Object.assign(env, { XDG_STATE_HOME: "", XDG_CACHE_HOME: "" });
  execFileSync("sh", ["-ec", recipe], { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
  assert.ok(!existsSync(join(root, "prloom")) && !existsSync(join(root, ".git", "prloom")));
  for (const folder of folders) assert.deepEqual(readdirSync(folder), ["another"], folder);
  assert.equal(git(root, "worktree", "list").trim().split("\n").length, 1);
  assert.equal(git(root, "for-each-ref", "--format=%(refname)").trim(), "refs/heads/main");
  assert.ok(!existsSync(join(root, ".gitignore")), "init made it, for one line");
  assert.doesNotMatch(readFileSync(join(root, ".git/info/exclude"), "utf8"), /prloom/);
});
