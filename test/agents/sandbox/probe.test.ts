import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { judgeProbe, type ProbeFacts, probeSandbox } from "../../../src/agents/sandbox/probe.ts";
import { filterFor } from "../../../src/agents/sandbox/seccomp.ts";
import { findProgram } from "../../../src/kernel/system/find-program.ts";

const NONE = { seals: false, sizes: false, filters: false };
const filters = filterFor(process.arch) !== undefined;
const FACTS: ProbeFacts = { platform: "linux", outcome: "failed", stderr: "", settings: {}, features: NONE };

const TABLE: readonly [what: string, facts: Partial<ProbeFacts>, why: RegExp, remedy: RegExp][] = [
  ["another system", { platform: "darwin", outcome: "missing" }, /Linux alone/, /"sandbox": "none"/],
  ["not installed", { outcome: "missing" }, /not installed/, /apt install bubblewrap.*dnf.*pacman/],
  [
    "Debian's switch",
    { settings: { "kernel.unprivileged_userns_clone": "0\n" } },
    /unprivileged_userns_clone is 0/,
    /sysctl -w kernel\.unprivileged_userns_clone=1/,
  ],
  ["no namespaces at all", { settings: { "user.max_user_namespaces": "0" } }, /max_user_namespaces/, /15000/],
  [
    "Ubuntu's AppArmor",
    { settings: { "kernel.apparmor_restrict_unprivileged_userns": "1" } },
    /apparmor_restrict/,
    /AppArmor profile.*sysctl -w kernel\.apparmor_restrict_unprivileged_userns=0/,
  ],
  [
    "something else",
    { stderr: "warning\nbwrap: Can't mount proc on /newroot/proc: Operation not permitted\n" },
    /bwrap fails: bwrap: Can't mount proc/,
    /container/,
  ],
];

for (const [what, facts, why, remedy] of TABLE) {
  test(`no sandbox: ${what}`, () => {
    const probe = judgeProbe({ ...FACTS, ...facts });
    assert.equal(probe.works, false);
    assert.match(probe.works ? "" : probe.why, why);
    assert.match(probe.works ? "" : probe.remedy, remedy);
  });
}

test("a setting that forbids nothing is not blamed", () => {
  const probe = judgeProbe({ ...FACTS, settings: { "kernel.unprivileged_userns_clone": "1" }, stderr: "no\n" });
  assert.match(probe.works ? "" : probe.why, /bwrap fails: no/);
});

test("it works here", async () => {
  assert.equal((await probeSandbox()).works, true);
});

const folder = mkdtempSync(join(tmpdir(), "prloom-probe-"));
after(() => rmSync(folder, { recursive: true }));
const PROBE = new URL("../../../src/agents/sandbox/probe.ts", import.meta.url).href;

const RUNNER = new URL("../../../src/agents/runner/runner.ts", import.meta.url).href;

/** In a process of its own: the answer is kept for as long as a process lives. */
function probeWith(path: string): { works: boolean; why?: string; features?: object } {
  const code = `import { probeSandbox } from "${PROBE}"; console.log(JSON.stringify(await probeSandbox()));`;
  const args = ["--input-type=module", "-e", code];
  return JSON.parse(execFileSync(process.execPath, args, { env: { PATH: path }, encoding: "utf8", stdio: "pipe" }));
}

test("a machine without bwrap is told so", () => {
  assert.match(probeWith(folder).why ?? "", /not installed/);
});

test("a bwrap that fails is quoted", () => {
  writeFileSync(join(folder, "bwrap"), "#!/bin/sh\necho 'bwrap: no permissions' >&2\nexit 1\n");
  chmodSync(join(folder, "bwrap"), 0o755);
  assert.match(probeWith(`${folder}:/usr/bin:/bin`).why ?? "", /no permissions|kernel/);
});

/** One that knows as much as an old one does, or as little as one that is setuid is allowed. */
function limitedBwrap(refused: string): string {
  const dir = mkdtempSync(join(folder, "limited-"));
  const lines = [
    "#!/bin/sh",
    `case " $* " in *" ${refused} "*) echo "bwrap: Unknown option ${refused}" >&2; exit 1 ;; esac`,
    `exec ${findProgram("bwrap", process.env.PATH, "/")} "$@"`,
  ];
  writeFileSync(join(dir, "bwrap"), lines.join("\n"), { mode: 0o755 });
  return `${dir}:/usr/bin:/bin`;
}

const LIMITED: readonly [string, object][] = [
  ["--no-such", { seals: true, sizes: true, filters }],
  ["--disable-userns", { seals: false, sizes: true, filters }],
  ["--size", { ...NONE, filters }],
  ["--seccomp", { seals: true, sizes: true, filters: false }],
];
for (const [refused, features] of LIMITED) {
  test(`a bwrap that refuses ${refused} is used for what it can do`, () => {
    assert.deepEqual(probeWith(limitedBwrap(refused)), { works: true, features });
  });
}

/** A bwrap that is killed, as for want of memory or time, when it is asked for something. */
function killedBwrap(asked: string): string {
  const dir = mkdtempSync(join(folder, "killed-"));
  const lines = [
    "#!/bin/sh",
    `case " $* " in *" ${asked} "*) kill -9 $$ ;; esac`,
    `exec ${findProgram("bwrap", process.env.PATH, "/")} "$@"`,
  ];
  writeFileSync(join(dir, "bwrap"), lines.join("\n"), { mode: 0o755 });
  return `${dir}:/usr/bin:/bin`;
}

for (const asked of ["--unshare-pid", "--seccomp", "--disable-userns"]) {
  test(`a bwrap that was killed has not answered, and nothing weaker is taken (${asked})`, { skip: !filters }, () => {
    assert.throws(() => probeWith(killedBwrap(asked)), /resources-used-up/);
  });
}

test("the same for the pid namespace of agents without a sandbox", () => {
  const code = `import { probePidNamespace } from "${RUNNER}"; console.log(await probePidNamespace());`;
  const args = ["--input-type=module", "-e", code];
  const env = { PATH: killedBwrap("--unshare-pid") };
  assert.throws(
    () => execFileSync(process.execPath, args, { env, encoding: "utf8", stdio: "pipe" }),
    /resources-used-up/,
  );
});

/** What asks a program something, and what that is told when no file can be opened any more: the error itself, never a second one that is not awaited. */
const ASKING: readonly [what: string, module: string, ask: string, told: string][] = [
  ["the probe", "agents/sandbox/probe.ts", "probeSandbox()", "resources-used-up"],
  ["the start of an agent", "agents/runner/enclosed.ts", "start(module.spawnEnclosed)", "EMFILE"],
];
for (const [what, module, ask, told] of ASKING) {
  test(`without any open files left, ${what} says so`, () => {
    const code = `import { closeSync, openSync } from "node:fs"; import { once } from "node:events";
      import * as module from "${new URL(`../../../src/${module}`, import.meta.url).href}";
      const start = async (spawnEnclosed) => {
        const wrapper = ["--seccomp", "5"];
        const stdio = ["ignore", "ignore", "ignore"];
        const { child } = spawnEnclosed({ bwrap: "/bin/true", wrapper, command: ["true"], stdio, cwd: "/", env: {}, detached: true });
        throw (await once(child, "error"))[0];
      };
      const held = [];
      try { for (;;) held.push(openSync("/dev/null")); } catch {}
      const told = await module.${ask}.catch((error) => error.code);
      for (const fd of held) closeSync(fd);
      console.log(told);`.replace("module.start(", "start(");
    const args = ["-c", 'ulimit -n 128; exec "$@"', "sh", process.execPath, "--input-type=module", "-e", code];
    assert.equal(execFileSync("sh", args, { encoding: "utf8", stdio: "pipe" }).trim(), told);
  });
}
