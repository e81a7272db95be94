import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { probeSandbox } from "../../../src/agents/sandbox/probe.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { makeProject, type ProjectOptions } from "../../testing/project.ts";
import { publishingProject } from "./publishing-project.ts";

/** Finds a token, also as git sends it, and a key; and is none: the agent's own script is seen. */
const PATTERN = "gh[ps]_[A-Za-z0-9]{8,}|eC1hY2Nlc3MtdG9rZW4[6]|BEGIN PRIVATE KE[Y]";
/** Everything that a process can read of others, of files and of git; what it finds is committed. */
const SEARCH = `
  { env; cat /proc/\${PROCESS:-[0-9]*}/environ /proc/\${PROCESS:-[0-9]*}/cmdline "$KEY_FILE"; git config --list
    grep -rsahE '${PATTERN}' "$HOME" "$OUTSIDE" "$PWD/.." "$(git rev-parse --git-common-dir)"
  } 2>/dev/null | grep -aoE '${PATTERN}' | sort -u > found.txt
  echo searched >> found.txt
  echo "$PRLOOM_TODO $RANDOM" >> work.txt
  sed -i '0,/- \\[ \\]/s//- [x]/' "$PRLOOM_PLAN_FILE"
`;

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

const { works } = await probeSandbox();

describe("an agent in a sandbox", { skip: works ? false : "no sandbox" }, () => {
  it("finds neither the token nor the key of an app, while its work is being pushed", async (t) => {
    const make = (options: ProjectOptions) => makeProject({ ...options, sandbox: "bwrap" });
    const { project, work, there, token } = await publishingProject(t, {}, make);
    mkdirSync(join(project.home, ".config"), { recursive: true });
    const file = join(project.home, ".config", "app.pem");
    writeFileSync(file, privateKey, { mode: 0o600 });
    const github = project.config().github as Record<string, unknown>;
    project.config({ github: { ...github, app: { id: 7, privateKeyFile: "~/.config/app.pem" } } });
    const agent = {
      adapter: "command",
      command: "/bin/sh",
      args: ["-c", SEARCH],
      env: { KEY_FILE: file, OUTSIDE: project.home },
    };
    project.config({ agents: { test: { ...agent, sandbox: "bwrap" } } });
    project.plan("dark", ["make one", "make two", "make three"]);
    await work();
    assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
    assert.equal(project.git("show", "prloom/dark:found.txt"), "searched\n");
    // The same search finds both where nothing is between it and the dispatcher: it is not blind.
    const daemon = await startDaemon(project, { GITHUB_TOKEN: token });
    const cwd = join(project.home, "outside");
    mkdirSync(cwd);
    const seen = { ...agent.env, HOME: project.home, PATH: process.env.PATH, PROCESS: String(daemon.pid) };
    spawnSync("/bin/sh", ["-c", SEARCH], { cwd, env: { ...seen, PRLOOM_PLAN_FILE: "/dev/null" } });
    await daemon.end();
    assert.equal(readFileSync(join(cwd, "found.txt"), "utf8"), `BEGIN PRIVATE KEY\n${token}\nsearched\n`);
  });
});
