import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { sandboxGaps } from "../../../src/cli/doctor/agent-checks.ts";
import { thorough } from "../../testing/thorough.ts";
import { testRepository } from "../fixture.ts";

const repository = testRepository();
const { root } = repository;
const home = join(dirname(root), "home");
const bin = join(dirname(root), "bin");
const old = join(bin, "old-codex");
const env = { HOME: home, PATH: `${bin}${delimiter}${process.env.PATH}`, OPENAI_API_KEY: "sk-geheim" };

function install(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
}

function config(value: Record<string, unknown>): void {
  writeFileSync(join(root, "prloom", "config.json"), JSON.stringify(value));
}

async function doctor(): Promise<{ code: number | null; stdout: string }> {
  return repository.run(["doctor"], { env });
}

before(() => {
  for (const dir of [bin, home, join(home, ".codex")]) mkdirSync(dir);
  install("codex", 'echo "codex-cli 0.200.0"');
  install("old-codex", 'echo "codex-cli 0.9.0"');
});
after(() => repository.close());

describe("doctor and agent programs", () => {
  it("tells what the sandbox cannot do on this machine", () => {
    const told = (filters: boolean, counts: boolean) => sandboxGaps({ filters, counts }).map(({ name }) => name);
    assert.deepEqual(told(true, true), []);
    assert.deepEqual(told(false, true), ["system calls"]);
    assert.deepEqual(told(false, false), ["system calls", "processes"]);
  });

  it("says what to type when the only agent is not logged in, and ends with 1", async () => {
    config({ agents: { codex: { adapter: "codex" } }, stages: { default: "codex" } });
    const { code, stdout } = await doctor();
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^✗ agent codex: Codex is not logged in: .* \(.*\/bin\/codex\)\n {2}hint: Type: codex login$/m,
    );
  });

  it("tells version and login of one that is, and never the login itself", async () => {
    writeFileSync(join(home, ".codex", "auth.json"), '{"OPENAI_API_KEY": "sk-geheim"}');
    const { code, stdout } = await doctor();
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^✓ agent codex: Codex 0\.200\.0, .*\/bin\/codex, logged in \(.*auth\.json exists\)$/m);
    assert.doesNotMatch(stdout, /geheim/);
    const json = await repository.run(["doctor", "--json"], { env });
    assert.doesNotMatch(json.stdout, /geheim/);
    const finding = JSON.parse(json.stdout).find(({ name }: { name: string }) => name === "agent codex");
    const { version, tooOld, login } = finding.program;
    assert.deepEqual([version, tooOld, login.state], ["0.200.0", false, "yes"]);
  });

  it("asks no program of the checkout that the config does not name: a branch or an agent may have put it there", async () => {
    const asked = join(home, "asked");
    for (const name of ["claude", "gemini"]) {
      writeFileSync(join(root, name), `#!/bin/sh\ntouch ${asked}\necho 9.9.9\n`);
      chmodSync(join(root, name), 0o755);
    }
    symlinkSync(join(root, "gemini"), join(bin, "gemini"));
    for (const folder of [root, ".", ""]) {
      const path = `${folder}${delimiter}${env.PATH}`;
      const { stdout } = await repository.run(["doctor"], { env: { ...env, PATH: path } });
      assert.doesNotMatch(stdout, /^. program/m);
      assert(!existsSync(asked), folder);
    }
    for (const path of [join(bin, "gemini"), join(root, "claude"), join(root, "gemini")]) rmSync(path);
  });

  it("notes what is too old, and what is missing while another agent can do the work", thorough, async () => {
    const agents = {
      new: { adapter: "codex" },
      old: { adapter: "codex", command: old },
      lost: { adapter: "codex", command: "no-such-codex" },
    };
    config({ agents, stages: { default: ["lost", "new"], triage: "old" } });
    const { code, stdout } = await doctor();
    assert.equal(code, 0, stdout);
    assert.match(
      stdout,
      /^! agent old: Codex 0\.9\.0 is older than .*\n {2}hint: Type: npm install -g @openai\/codex$/m,
    );
    assert.match(stdout, /^! agent lost: Codex: the program "no-such-codex" was not found\n {2}hint: Install it: npm/m);
    config({ agents, stages: { default: ["lost", "new"], triage: "lost" } });
    assert.match((await doctor()).stdout, /^✗ agent lost: /m);
  });

  it("says of each agent how it is enclosed", async () => {
    config({
      agents: { free: { adapter: "codex", sandbox: "none" }, must: { adapter: "codex", sandbox: "bwrap" } },
      stages: { default: "free" },
    });
    const here = await doctor();
    assert.match(here.stdout, /^[✓!] sandbox: /m);
    assert.match(here.stdout, /^! sandbox of free: No sandbox: agents run with your rights/m);
    // Where bubblewrap cannot be found, an agent that needs it does not run, and the others run bare.
    const git = join(dirname(root), "only-git");
    mkdirSync(git);
    install("../only-git/git", `exec '${whereIs("git")}' "$@"`);
    const { code, stdout } = await repository.run(["doctor"], { env: { ...env, PATH: git } });
    assert.equal(code, 1);
    assert.match(stdout, /^! sandbox: No sandbox: .*bubblewrap.*\n {2}hint: To have one: .*install bubblewrap/m);
    assert.match(stdout, /^✗ sandbox of must: No sandbox: runs with "sandbox": "bwrap" do not start/m);
    const status = await repository.run(["status"], { env: { ...env, PATH: git } });
    assert.match(status.stdout, /^sandbox: none: agents run with your rights \(.*bubblewrap.*\)$/m);
    assert.match(status.stdout, /^agent must: does not run without a sandbox/m);
  });

  it("leaves the user's home as it is", () => {
    assert.deepEqual(readdirSync(home, { recursive: true }).sort(), [".codex", join(".codex", "auth.json")]);
  });

  it("names a script of an agent that is neither committed nor there", async () => {
    const agent = (...args: string[]) => ({ adapter: "command", command: "sh", args });
    const agents = { own: agent("prloom/gone.sh", "-x", "openai/gpt-5.1", "../outside.sh", "prloom/config.json") };
    config({ agents, stages: { default: "own" } });
    const { stdout } = await doctor();
    assert.match(
      stdout,
      /^! agent own: is started with prloom\/gone\.sh, which does not exist\n {2}hint: Write and commit/m,
    );
    assert.equal(stdout.match(/is started with/g)?.length, 1, stdout);
  });

  it("warns of a file that agents are started with and that their worktrees do not have", thorough, async () => {
    const agent = (...args: string[]) => ({ adapter: "command", command: "sh", args });
    config({ agents: { own: agent("prloom/agent.sh", "../outside.sh", "-x") }, stages: { default: "own" } });
    for (const name of ["prloom/agent.sh", "../outside.sh"]) writeFileSync(join(root, name), "true\n");
    const { code, stdout } = await doctor();
    assert.equal(code, 0, stdout);
    assert.match(
      stdout,
      /^! agent own: prloom\/agent\.sh is not in git, .*\n {2}hint: Commit it: git add prloom\/agent\.sh/m,
    );
    assert.doesNotMatch(stdout, /outside/);
    execFileSync("git", ["add", "prloom/agent.sh"], { cwd: root });
    assert.doesNotMatch((await doctor()).stdout, /is not in git/);
  });

  it("warns of dollars that are not counted, and of places that are not there", thorough, async () => {
    const agent = { adapter: "codex", readable: ["~", "nope", ".codex"] };
    config({ agents: { codex: agent }, stages: { default: "codex" }, limits: { budget: { usd: 5 } } });
    const { stdout } = await doctor();
    assert.match(stdout, /^! budget of codex: does not report its cost.*\n {2}hint: .*agents\.codex\.price/m);
    assert.match(stdout, /^✗ agent codex: agents\.codex\.readable: ~ is your whole home/m);
    assert.match(stdout, /^! agent codex: agents\.codex\.readable: there is no .*\/home\/nope$/m);
    assert.doesNotMatch(stdout, /there is no .*\.codex$/m);
    config({ agents: { codex: { adapter: "codex", price: { input: 1, output: 2 } } }, stages: { default: "codex" } });
    assert.doesNotMatch((await doctor()).stdout, /budget of|\.readable/);
  });
});

function whereIs(name: string): string {
  const found = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name));
  return found.find((file) => existsSync(file)) ?? assert.fail(`${name} is not installed`);
}
