import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { geminiProgram } from "../../src/agents/acp/program.ts";
import type { KnownProgram } from "../../src/agents/adapters.ts";
import { claudeProgram } from "../../src/agents/claude/program.ts";
import { codexProgram } from "../../src/agents/codex/program.ts";
import { inspectProgram, isOlder, type ProgramFacts, versionIn } from "../../src/agents/inspect-program.ts";
import { openCodeProgram } from "../../src/agents/opencode/program.ts";
import { agentFileOf, byReadiness, remedyOf, troubleOf, whyFirst } from "../../src/cli/setup/choose-agent.ts";
import { identityOf } from "../../src/kernel/system/process-tree.ts";
import { installProgram } from "../testing/agents/programs.ts";
import { thorough } from "../testing/thorough.ts";

const dir = mkdtempSync(join(tmpdir(), "prloom-inspect-"));
after(() => rmSync(dir, { recursive: true, force: true }));

/** A program of another maker, with a home of its own. */
function program(name: string, script: string): { file: string; home: string } {
  const home = join(dir, `home of ${name}`);
  mkdirSync(home, { recursive: true });
  const file = join(dir, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return { file, home };
}

const inspect = ({ file, home }: { file: string; home: string }, more: { env?: object; answerMs?: number } = {}) => {
  const { env = {}, answerMs = 60_000 } = more;
  return inspectProgram({ env: { PATH: process.env.PATH, HOME: home, ...env } }, codexProgram, { file, answerMs });
};

describe("an agent program is asked for its version", { concurrency: 2 }, () => {
  it("in an empty home and folder, without secrets, and leaves nothing there", async () => {
    const seen = join(dir, "seen");
    const made = program("curious", `env > '${seen}'; pwd >> '${seen}'; : > "$HOME/junk"; echo "codex-cli 0.200.1"`);
    const facts = await inspect(made, { env: { GITHUB_TOKEN: "geheim", CODEX_API_KEY: "geheim" } });
    assert.deepEqual([facts.version, facts.tooOld, facts.login.state], ["0.200.1", false, "yes"]);
    assert.doesNotMatch(readFileSync(seen, "utf8"), /geheim|home of curious/);
    assert.equal(existsSync(join(made.home, "junk")), false);
    const [, home = ""] = /^HOME=(.*)$/m.exec(readFileSync(seen, "utf8")) ?? [];
    assert.equal(existsSync(home), false, "the empty home is gone");
    assert.doesNotMatch(JSON.stringify(facts), /geheim/);
  });

  it("in the user's home when it needs that to find itself", async () => {
    const made = program("shim", 'cat "$HOME/version"');
    writeFileSync(join(made.home, "version"), "1.2.3\n");
    assert.equal((await inspect(made)).version, "1.2.3");
  });

  it("and is ended with all that it started when it gives no answer", { timeout: 60_000 }, async () => {
    const pids = join(dir, "pids");
    const made = program("hangs", `echo $$ > '${pids}'; sleep 600 & echo $! >> '${pids}'; wait`);
    const facts = await inspect(made, { answerMs: 500 });
    assert.match(facts.broken ?? "", /^it gave no answer within/);
    for (const pid of readFileSync(pids, "utf8").trim().split("\n")) {
      // The kernel takes a moment; a test that waits in vain is ended by its timeout.
      while (identityOf(Number(pid)) !== undefined) await sleep(20);
    }
  });

  it("and what it says instead is told when it fails", async () => {
    const facts = await inspect(program("broken", 'echo >&2 ""; echo >&2 "Error: not installed properly"; exit 3'));
    assert.deepEqual([facts.version, facts.broken], [undefined, "Error: not installed properly"]);
    assert.equal(troubleOf(facts), "Codex does not work: Error: not installed properly");
    assert.equal(remedyOf(facts, codexProgram), "Type: npm install -g @openai/codex");
    const silent = await inspect(program("silent", "exit 4"));
    assert.equal(silent.broken, "it ends with 4");
    const unwilling = await inspect(program("unwilling", "echo hello"));
    assert.deepEqual([unwilling.version, unwilling.broken], [undefined, undefined]);
    const absent = await inspect({ file: join(dir, "absent"), home: dir });
    assert.match(absent.broken ?? "", /ENOENT/);
  });

  it("and one that is too old, or not logged in, is told what to type", async () => {
    const old = await inspect(program("old", 'echo "codex-cli 0.9.0"'));
    assert.equal(troubleOf(old), "Codex 0.9.0 is older than 0.166.0, the oldest that prloom was tried with");
    assert.equal(remedyOf(old, codexProgram), "Type: npm install -g @openai/codex");
    const made = program("stranger", 'echo "codex-cli 0.166.0"');
    const stranger = await inspect(made);
    assert.match(troubleOf(stranger) ?? "", /^Codex is not logged in: there is no .*, and CODEX_API_KEY is not set$/);
    assert.equal(remedyOf(stranger, codexProgram), "Type: codex login");
    mkdirSync(join(made.home, ".codex"));
    writeFileSync(join(made.home, ".codex", "auth.json"), '{"OPENAI_API_KEY": "geheim"}');
    const known = await inspect(made);
    assert.deepEqual([troubleOf(known), known.login.state], [undefined, "yes"]);
    assert.doesNotMatch(JSON.stringify(known), /geheim/);
  });
});

describe("real programs tell their version, and find their home as it was", { concurrency: 2 }, () => {
  const programs = { opencode: openCodeProgram, claude: claudeProgram, codex: codexProgram, gemini: geminiProgram };
  for (const name of ["opencode", "claude", "codex", "gemini"] as const) {
    // These two need seconds for it.
    const slow = name === "opencode" || name === "gemini" ? thorough : {};
    it(name, { timeout: 300_000, ...slow }, async (t) => {
      const installed = await installProgram(name);
      if ("missing" in installed) return t.skip(installed.missing);
      const home = join(dir, `home for ${name}`);
      mkdirSync(home);
      const env = { PATH: process.env.PATH, HOME: home };
      const facts = await inspectProgram({ env }, programs[name], { file: installed.command, answerMs: 200_000 });
      assert.deepEqual([facts.version, facts.tooOld, facts.broken], [installed.version, false, undefined]);
      assert.deepEqual(readdirSync(home), []);
    });
  }
});

describe("versions", () => {
  const texts: [text: string, version: string | undefined][] = [
    ["2.1.325 (Claude Code)", "2.1.325"],
    ["codex-cli 0.166.0\n", "0.166.0"],
    ["v1.18.33", "1.18.33"],
    ["WARNING: x\n0.61.0-preview.1\n", "0.61.0-preview.1"],
    ["1.2", undefined],
    ["", undefined],
  ];
  for (const [text, version] of texts) {
    it(`${JSON.stringify(text)} tells ${version}`, () => assert.equal(versionIn(text), version));
  }

  const pairs: [version: string, least: string, older: boolean][] = [
    ["1.2.3", "1.2.3", false],
    ["1.2.4", "1.2.3", false],
    ["1.10.0", "1.9.9", false],
    ["1.9.9", "1.10.0", true],
    ["0.166.0", "1.0.0", true],
    ["2.0.0-beta.1", "2.0.0", false],
  ];
  for (const [version, least, older] of pairs) {
    it(`${version} is ${older ? "" : "not "}older than ${least}`, () => assert.equal(isOlder(version, least), older));
  }
});

describe("the agent that init takes", () => {
  const known = (name: string, adapter: KnownProgram["adapter"] = "codex"): KnownProgram => ({
    name,
    adapter,
    program: { ...codexProgram, command: name },
    ...(adapter === "acp" ? { args: ["--acp"] } : {}),
  });
  const facts = (over: Partial<ProgramFacts>): ProgramFacts => ({
    title: "T",
    file: "/t",
    version: "1.0.0",
    least: "1.0.0",
    tooOld: false,
    login: { state: "unknown", how: "" },
    ...over,
  });
  const installed = (name: string, over: Partial<ProgramFacts> = {}) => ({ known: known(name), facts: facts(over) });
  const yes = { login: { state: "yes", how: "" } } as const;
  const no = { login: { state: "no", how: "" } } as const;
  const rows: [what: string, list: ReturnType<typeof installed>[], order: string[]][] = [
    ["nothing", [], []],
    ["equals keep their order", [installed("a", yes), installed("b", yes)], ["a", "b"]],
    ["logged in before unknown before not", [installed("a", no), installed("b"), installed("c", yes)], ["c", "b", "a"]],
    ["new enough before too old", [installed("a", { ...yes, tooOld: true }), installed("b", no)], ["b", "a"]],
    [
      "whatever works before what is broken",
      [installed("a", { ...yes, broken: "x" }), installed("b", { ...no, tooOld: true })],
      ["b", "a"],
    ],
  ];
  for (const [what, list, order] of rows) {
    it(what, () =>
      assert.deepEqual(
        byReadiness(list).map((one) => one.known.name),
        order,
      ),
    );
  }

  it("is told with the reason", () => {
    assert.equal(whyFirst([installed("a", yes)]), "the only one that is installed and logged in");
    assert.equal(whyFirst([installed("a", no), installed("b", no)]), "installed; also here: b");
  });

  it("is written as short as can be; ACP needs the program and how it is started", () => {
    assert.deepEqual(agentFileOf(known("codex")), { adapter: "codex" });
    const gemini = agentFileOf(known("gemini", "acp"));
    assert.deepEqual(gemini, { adapter: "acp", command: "gemini", args: ["--acp"] });
  });
});
