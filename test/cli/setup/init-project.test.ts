import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { projectCommands } from "../../../src/cli/setup/project-commands.ts";
import { thorough } from "../../testing/thorough.ts";
import { git, testRepository } from "../fixture.ts";

function repository(t: TestContext, files: Readonly<Record<string, string>> = {}) {
  const made = testRepository({ config: false });
  t.after(() => made.close());
  put(made.root, files);
  return made;
}

function put(root: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

const configOf = (root: string) => JSON.parse(readFileSync(join(root, "prloom", "config.json"), "utf8"));
const PACKAGE = JSON.stringify({ scripts: { test: "node --test" } });

describe("init in a project", { concurrency: 2 }, () => {
  it("suggests its tests where it cannot ask, and writes them when it is told to", async (t) => {
    const { root, run } = repository(t, { "package.json": PACKAGE, "package-lock.json": "{}" });
    const { stdout } = await run(["init", "--command", "sh"]);
    assert.match(
      stdout,
      /^ {2}checks: none, .*; package\.json suggests, for prloom\/config\.json: "initCommands": \["npm ci"\], "checks": \["npm test"\]$/m,
    );
    assert.equal(configOf(root).checks, undefined);
    rmSync(join(root, "prloom", "config.json"));
    const written = await run(["init", "--command", "sh", "--checks"]);
    assert.match(written.stdout, /^ {2}checks: npm test$/m);
    const { checks, initCommands } = configOf(root);
    assert.deepEqual([checks, initCommands], [["npm test"], ["npm ci"]]);
    assert.match((await run(["init", "--checks"])).stdout, /^--checks was not used/m);
  });

  it("writes the schema that the config refers to, and start renews it when prloom changed", async (t) => {
    const { root, run } = repository(t);
    await run(["init", "--command", "true"]);
    const file = join(root, "prloom", configOf(root).$schema);
    const written = readFileSync(file, "utf8");
    const { $comment, properties } = JSON.parse(written);
    assert.match($comment, /^prloom \d/);
    assert.ok("checks" in properties && "$schema" in properties);
    assert.equal(git(root, "check-ignore", file).trim(), file);
    for (const before of ['{\n  "$comment": "prloom 0.0.0",', undefined]) {
      if (before === undefined) rmSync(file);
      else writeFileSync(file, before);
      assert.equal((await run(["start", "--until-idle"])).code, 0);
      assert.equal(readFileSync(file, "utf8"), written);
    }
  });

  it("names the agents' files that are not committed, and so does doctor", thorough, async (t) => {
    const { run } = repository(t, { "tools/agent.sh": "#!/bin/sh\n", "tools/rules.txt": "" });
    const line = "sh ./tools/agent.sh --rules tools/rules.txt";
    const { stdout } = await run(["init", "--command", line]);
    assert.match(
      stdout,
      /^ {2}git add prloom\/config\.json tools\/agent\.sh tools\/rules\.txt \.gitignore && git commit/m,
    );
    const doctor = await run(["doctor"]);
    for (const file of ["tools/agent.sh", "tools/rules.txt"])
      assert.match(doctor.stdout, new RegExp(`^! agent sh: ${file} is not in git`, "m"));
  });

  it(
    "doctor says when nothing checks the work, what a worktree lacks, and where worktrees lie",
    thorough,
    async (t) => {
      const { root, run } = repository(t, { "package.json": PACKAGE, "pnpm-lock.yaml": "" });
      await run(["init", "--command", "sh"]);
      const findings = async () =>
        JSON.parse((await run(["doctor", "--json"])).stdout) as { name: string; state: string; hint?: string }[];
      const named = async (name: string) => (await findings()).find((finding) => finding.name === name);
      assert.match((await named("checks"))?.hint ?? "", /"checks": \["pnpm test"\]/);
      assert.match((await named("dependencies"))?.hint ?? "", /"initCommands": \["pnpm install --frozen-lockfile"\]/);
      assert.match((await named("worktrees"))?.hint ?? "", /"worktreesDir": "\.\.\/repo-worktrees"/);
      const more = { checks: ["pnpm test"], initCommands: ["pnpm install"], worktreesDir: "../trees" };
      writeFileSync(join(root, "prloom", "config.json"), JSON.stringify({ ...configOf(root), ...more }));
      assert.deepEqual(
        [(await named("checks"))?.state, await named("dependencies"), await named("worktrees")],
        ["ok", undefined, undefined],
      );
    },
  );
});

describe("what a project is tested with", () => {
  const table: [files: Record<string, string>, check: string | undefined, init?: string][] = [
    [{ "package.json": PACKAGE }, "npm test", "npm install"],
    [{ "package.json": PACKAGE, "yarn.lock": "" }, "yarn test", "yarn install --immutable"],
    [{ "package.json": PACKAGE, "yarn.lock": "# yarn lockfile v1\n" }, "yarn test", "yarn install --frozen-lockfile"],
    [{ "package.json": PACKAGE, "package-lock.json": "x".repeat(2_000_000) }, "npm test", "npm ci"],
    [{ "package.json": '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' }, undefined],
    [{ "package.json": '{"scripts":{"test":"jest --watch"}}' }, undefined],
    [{ "package.json": '{"scripts":{"test":"jest --watchAll=false"}}' }, "npm test", "npm install"],
    [{ "package.json": '{"scripts":{"test":"react-scripts test"}}' }, "CI=true npm test", "npm install"],
    [{ "package.json": "{ torn", "Cargo.toml": "" }, "cargo test"],
    [{ "package.json": "[1]", "go.mod": "" }, "go test ./..."],
    [{ "pyproject.toml": '[project]\ndependencies = ["pytest"]\n', "uv.lock": "" }, "uv run pytest", "uv sync"],
    [{ "pytest.ini": "" }, "python -m pytest"],
    [{ "pyproject.toml": "[project]\n" }, undefined],
    [{ "requirements.txt": "flask\npytest==8.2\n" }, "python -m pytest"],
    [{ "tox.ini": "", "pytest.ini": "" }, "tox"],
    [{ gradlew: "", "build.gradle": "" }, "./gradlew test"],
    [{ "pom.xml": "" }, "mvn --quiet test"],
    [{ Makefile: "all: x\n\ntest: all\n\t./t\n" }, "make test"],
    [{ Makefile: "test := 1\ncheck:\n\t./t\n" }, "make check"],
    [{ Makefile: "latest: all\n" }, undefined],
    [{}, undefined],
  ];
  for (const [files, check, init] of table)
    it(`${Object.keys(files).join(", ") || "nothing"}: ${check}`, (t) => {
      const { root } = repository(t, files);
      const found = projectCommands(root);
      assert.deepEqual([found?.checks[0], found?.initCommands[0]], [check, init]);
    });
});
