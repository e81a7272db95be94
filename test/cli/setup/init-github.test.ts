import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { repositoryIn } from "../../../src/cli/setup/choose-github.ts";
import { CLI, NODE_FLAGS } from "../../testing/program.ts";
import { inTerminal, NO_TERMINAL } from "../../testing/terminal.ts";
import { repositoryFor } from "../fixture.ts";

test("the repository that a remote names", () => {
  for (const address of [
    "https://github.com/acme/app.git",
    "https://x-access-token:secret@github.com/acme/app",
    "git@github.com:acme/app.git",
    "ssh://git@github.com/acme/app.git",
  ])
    assert.equal(repositoryIn(address), "acme/app", address);
  for (const address of ["https://gitlab.com/acme/app", "/srv/github.com/acme/app", "https://github.com.evil.test/a/b"])
    assert.equal(repositoryIn(address), undefined, address);
});

test("init in a clone of a repository on GitHub: a dry run writes nothing, then its issues become plans", async (t) => {
  const { root, run } = repositoryFor(t);
  const file = join(root, "prloom", "config.json");
  rmSync(file);
  execFileSync("git", ["remote", "add", "origin", "https://secret@github.com/acme/app.git"], { cwd: root });
  const flags = ["init", "--yes", "--agent", "mine", "--command", "true", "--github", "--label", "loom"];
  const dry = await run([...flags, "--dry-run"]);
  assert.equal(dry.code, 0, dry.stderr);
  assert.match(dry.stdout, /"repo": "acme\/app"[\s\S]*"label": "loom"[\s\S]*acme\/app and at[^\n]*four questions/);
  assert.doesNotMatch(dry.stdout, /secret/);
  assert(!existsSync(file));
  const { code, stderr, stdout } = await run(flags);
  assert.equal(code, 0, stderr);
  const next =
    /next:\n[\s\S]*export GITHUB_TOKEN=<token> [\s\S]*prloom doctor [\s\S]*prloom start {3}\(then give an issue the label "loom"\)/;
  assert.match(stdout, next);
  const { forge, github, triggers, gates } = JSON.parse(readFileSync(file, "utf8"));
  assert.deepEqual(
    [forge, github, triggers, gates],
    ["github", { repo: "acme/app" }, [{ on: "issue.labeled", label: "loom", do: "queue" }], { plan: true }],
  );
});

test("what comes from GitHub waits for a person also at a terminal, unless they say no", {
  skip: NO_TERMINAL,
}, async (t) => {
  const { root } = repositoryFor(t);
  rmSync(join(root, "prloom", "config.json"));
  execFileSync("git", ["remote", "add", "origin", "git@github.com:acme/app.git"], { cwd: root });
  const env = { ...(process.env as Record<string, string>), HOME: root };
  const line = `stty cols 100 rows 20; ${[process.execPath, ...NODE_FLAGS, CLI].join(" ")} init --agent mine --command true --dry-run`;
  assert.match(await inTerminal(`${line} --yes --github`, { cwd: root, env }).ended, /"plan": true/);
  const asked = inTerminal(line, { cwd: root, env });
  for (const question of [/become plans/, /which label/, /wait for your approval|would be:/]) {
    await asked.shows(question);
    asked.type("");
  }
  assert.match(await asked.ended, /"plan": true/);
});

test("init with GitHub where no remote is there says what to type", async (t) => {
  const { root, run } = repositoryFor(t);
  rmSync(join(root, "prloom", "config.json"));
  const { code, stderr } = await run(["init", "--yes", "--agent", "mine", "--command", "true", "--github"]);
  assert.equal(code, 2);
  assert.match(stderr, /--github <owner>\/<name>/);
});
