import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { isPassedOn } from "../../../src/agents/runner/inherited-files.ts";
import type { Mount } from "../../../src/agents/sandbox/args.ts";
import { movedCredentials } from "../../../src/agents/sandbox/moved-credentials.ts";
import { packageAround, programPlaces, toolPlaces, toolSecrets } from "../../../src/agents/sandbox/places.ts";

let base = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "prloom-places-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const at = (path: string): string => join(base, path);
function put(path: string, text = ""): string {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text, { mode: 0o755 });
  return at(path);
}
const options = (path = "") => ({
  homes: [at("home")],
  path,
  cwd: at("repo"),
  never: [at("home"), at("repo")],
  own: [at("repo")],
});
const pathsOf = (mounts: readonly Mount[]) => mounts.map(({ path }) => path.slice(base.length + 1));

test("a program that was installed as a package brings all that it was installed with", () => {
  const file = put("home/tools/node_modules/agent/bin/agent.js");
  assert.equal(packageAround(file, [at("home")]), at("home/tools/node_modules"));
});

test("a script brings the package around it, but never a whole home", () => {
  put("home/agents/mine/package.json", "{}");
  assert.equal(packageAround(put("home/agents/mine/src/run.mjs"), [at("home")]), at("home/agents/mine"));
  put("home/package.json", "{}");
  const alone = put("home/scripts/run.mjs");
  assert.equal(packageAround(alone, [at("home")]), alone);
});

test("a program that is called by a link is found by its name and by where it really is", () => {
  const real = put("home/.local/share/agent/versions/1.2.3");
  mkdirSync(at("home/bin"));
  symlinkSync(real, at("home/bin/agent"));
  const mounts = programPlaces({ command: "agent" }, options(at("home/bin")));
  assert.deepEqual(mounts, [
    { kind: "read", path: real },
    { kind: "link", path: at("home/bin/agent"), to: real },
  ]);
});

test("scripts among the arguments and in a command line are seen; what lies in the repository is not shown twice", () => {
  const script = put("home/agents/run.mjs");
  const own = put("repo/agent.sh");
  assert.deepEqual(pathsOf(programPlaces({ command: "sh", args: [script, own, "-x"] }, options())), [
    "home/agents/run.mjs",
  ]);
  assert.deepEqual(pathsOf(programPlaces({ command: `sh "${script}" --fast` }, options())), ["home/agents/run.mjs"]);
});

test("folders of PATH and toolchains are shown as far as programs need them, but not the home or the repository", () => {
  for (const path of ["bin/x", ".nvm/.npmrc", ".nvm/versions/node/v1/lib/x", ".nvm/versions/node/v1/etc/npmrc"])
    put(`home/${path}`);
  for (const path of [
    ".cargo/bin/x",
    ".cargo/credentials.toml",
    "prefix/bin/x",
    "prefix/lib/x",
    "prefix/etc/npmrc",
    "lib/x",
  ])
    put(`home/${path}`);
  put("repo/bin/x");
  const folders = [at("home/bin"), at("home"), base, at("repo/bin"), "relative", at("missing"), at("home/prefix/bin")];
  assert.deepEqual(pathsOf(toolPlaces(options(folders.join(":")))), [
    ...["home/bin", "home/prefix/bin", "home/prefix/lib"],
    ...["home/.nvm/versions/node/v1/lib", "home/.cargo/bin"],
  ]);
});

test("what may not be looked at, in a home or among the arguments, is not shown and stops no run", () => {
  put("home/.cargo/bin/x");
  const script = put("home/agents/run.mjs");
  put("home/.rbenv/bin/x");
  chmodSync(at("home/.rbenv"), 0);
  // Root gets through closed doors; not through a link that leads to itself.
  symlinkSync(at("home/.nvm"), at("home/.nvm"));
  const tools = pathsOf(toolPlaces(options())).filter((path) => !path.includes(".rbenv"));
  assert.deepEqual(tools, ["home/.cargo/bin"]);
  const places = programPlaces({ command: "sh", args: [script, at("home/.nvm/agent.mjs")] }, options());
  assert.deepEqual(pathsOf(places), ["home/agents/run.mjs"]);
  chmodSync(at("home/.rbenv"), 0o755);
});

test("settings of npm are hidden where they hold a login", () => {
  const login = put("opt/etc/npmrc", "//registry.example/:_authToken=x\n");
  const own = put("home/prefix/lib/node_modules/npm/npmrc", "//registry.example/:_password=x\n");
  put("usr/etc/npmrc", "registry=http://registry.example/\n");
  const path = [at("opt/bin"), at("usr/bin"), at("home/prefix/bin")].join(":");
  assert.deepEqual(toolSecrets(toolPlaces(options(path)), path).sort(), [own, login].sort());
});

test("credentials that were moved elsewhere are found by what says so, unless the agent is to have them", () => {
  const netrc = put("data/netrc");
  const kube = [put("data/kube/a"), put("data/kube/b")];
  mkdirSync(at("data/docker"));
  const env = {
    NETRC: netrc,
    KUBECONFIG: kube.join(":"),
    DOCKER_CONFIG: at("data/docker"),
    GIT_CONFIG_GLOBAL: "/dev/null",
    PGPASSFILE: at("missing"),
    AWS_CONFIG_FILE: "relative",
    EDITOR: netrc,
  };
  assert.deepEqual(movedCredentials(env, []), { files: [netrc, ...kube], folders: [at("data/docker")] });
  assert.deepEqual(movedCredentials(env, ["KUBECONFIG", "DOCKER_CONFIG"]), { files: [netrc], folders: [] });
  const tokens = put("data/hf/token");
  const folder = at("data/hf");
  assert.deepEqual(movedCredentials({ HF_HOME: folder, RCLONE_CONFIG: tokens }, []), {
    files: [tokens],
    folders: [folder],
  });
  const elsewhere = { DOCKER_HOST: `unix://${netrc}`, KRB5CCNAME: `DIR:${at("data/docker")}` };
  assert.deepEqual(movedCredentials(elsewhere, []), { files: [netrc], folders: [at("data/docker")] });
});

test("of open files, those are passed on that are not closed when a program starts", () => {
  assert.equal(isPassedOn("pos:\t0\nflags:\t0100002\nmnt_id:\t1\n"), true);
  assert.equal(isPassedOn("pos:\t0\nflags:\t02100002\nmnt_id:\t1\n"), false);
  assert.equal(isPassedOn(""), false);
});
