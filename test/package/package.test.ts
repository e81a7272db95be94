import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { thorough } from "../testing/thorough.ts";
import { compile, declarations, install } from "./compile.ts";
import { GOOD_BRIDGE, GOOD_PLUGIN, WRONG } from "./programs.ts";

const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

let dir = "";
let unpacked = "";
/** A project of an author, with nothing but the package. */
let installed = "";

before(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "prloom-package-")));
  // The build needs the Node that the checkout brings along, as `npm run` would find it.
  const path = [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter);
  const packing = { cwd: root, env: { ...process.env, PATH: path }, encoding: "utf8" } as const;
  execFileSync("npm", ["pack", "--silent", "--pack-destination", dir], packing);
  const tarball = join(dir, readdirSync(dir).find((name) => name.endsWith(".tgz")) ?? "missing.tgz");
  execFileSync("tar", ["-xzf", tarball, "-C", dir]);
  unpacked = join(dir, "package");
  installed = join(dir, "installed");
  install(installed, tarball);
});

after(() => rmSync(dir, { recursive: true, force: true }));

function files(at = unpacked): string[] {
  return readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function prloom(...args: string[]): { code: number | null; stdout: string; stderr: string } {
  return run("cli.js", join(dir, "empty"), args);
}

function run(program: string, cwd: string, args: readonly string[]) {
  mkdirSync(cwd, { recursive: true });
  const env = { PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter), HOME: cwd, TMPDIR: dir };
  const line = [join(unpacked, "dist", program), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, line, { cwd, env, encoding: "utf8", timeout: 60_000 });
  return { code: status, stdout, stderr };
}

test("it holds what a user needs and nothing else", () => {
  const names = files().map((file) => file.slice(unpacked.length + 1));
  for (const name of [
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "dist/LICENSES.txt",
    "dist/shim.js",
    "dist/plugin.js",
    "dist/thread.js",
  ]) {
    assert.ok(names.includes(name), `${name} is missing`);
  }
  for (const name of ["dist/prompts/worker.md", "dist/types/plugin.d.ts", "examples/demo/project/package.json"]) {
    assert.ok(names.includes(name), `${name} is missing`);
  }
  const foreign = names.filter(
    (name) => !/^(dist|docs|examples)\/|^(package\.json|README\.md|LICENSE|CONTRIBUTING\.md|CHANGELOG\.md)$/.test(name),
  );
  assert.deepEqual(foreign, []);
});

test("no file in it names a path of the machine that made it", () => {
  const places = [root, join(homedir(), "."), dir].filter((place) => place.length > 1 && place !== "/");
  for (const file of files()) {
    const text = readFileSync(file, "utf8");
    for (const place of places) assert.ok(!text.includes(`${place}/`), `${file} names ${place}`);
  }
});

test("what it bundles comes with its licence", () => {
  const text = readFileSync(join(unpacked, "dist", "LICENSES.txt"), "utf8");
  for (const name of ["commander", "zod"]) assert.match(text, new RegExp(`^${name} \\d`, "m"));
  // The parser is only what tests compare the scanner with.
  assert.doesNotMatch(text, /^(?:micromark|mdast)/m);
});

test("the CLI runs in an empty folder without any node_modules", () => {
  const { version } = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
  const told = prloom("--version");
  assert.deepEqual(told, { code: 0, stdout: `${version}\n`, stderr: "" });
  const help = prloom("--help");
  assert.equal(help.code, 0);
  assert.match(help.stdout, /\bdemo\b/);
  const status = prloom("status");
  assert.equal(status.code, 1);
  assert.match(status.stderr, /\[not-a-repository\]/);
});

test("status, which has a bundle of its own, tells mistakes in a config as the program does", () => {
  const cwd = join(dir, "mistaken");
  mkdirSync(join(cwd, "prloom"), { recursive: true });
  execFileSync("git", ["init", "--quiet", cwd]);
  const mistaken = { agents: { a: { adapter: "none" } }, limits: { zz: 1 }, presets: { p: { checks: [1] } } };
  writeFileSync(join(cwd, "prloom", "config.json"), JSON.stringify(mistaken));
  const told = run("cli.js", cwd, ["status"]);
  const cli = readFileSync(join(unpacked, "dist", "cli.js"), "utf8");
  writeFileSync(join(unpacked, "dist", "whole.js"), cli.replace('"status.js"', '"main.js"'));
  assert.deepEqual(told, run("whole.js", cwd, ["status"]));
  assert.equal(told.code, 0, told.stderr);
  assert.match(told.stdout, /limits\.zz: unknown key/);
});

test("the first run of a command keeps what it compiled; the next take it, and make it again where it is broken", () => {
  const cwd = join(dir, "kept");
  mkdirSync(join(cwd, "prloom"), { recursive: true });
  execFileSync("git", ["init", "--quiet", cwd]);
  const agents = { a: { adapter: "command", command: "true", sandbox: "none" } };
  writeFileSync(join(cwd, "prloom", "config.json"), JSON.stringify({ agents, stages: { default: "a" } }));
  execFileSync("git", ["add", "-A"], { cwd });
  execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@localhost", "commit", "-qm", "Begin"], { cwd });
  // A dispatcher changes a flag of V8, and what was kept with other flags is not taken.
  const start = () => run("cli.js", cwd, ["start", "--until-idle"]);
  const first = start();
  assert.equal(first.code, 0, first.stderr);
  const kept = () => keptFiles("start-main.js");
  const [file = ""] = kept();
  const written = statSync(file).mtimeMs;
  assert.deepEqual(start(), first);
  assert.equal(statSync(file).mtimeMs, written, "what was kept was not taken");
  // V8 itself takes the second, and crashes.
  const good = readFileSync(file);
  for (const broken of [good.subarray(0, 5000), flipped(good, 100_000)]) {
    writeFileSync(file, broken);
    assert.deepEqual(start(), first);
    assert.ok(statSync(file).size > 500_000);
    assert.notDeepEqual(readFileSync(file), broken);
  }
  assert.deepEqual(kept(), [file]);
});

const own = () => join(dir, `prloom-${process.getuid?.()}`);
const keptFiles = (name: string) => files(join(own(), "compiled")).filter((file) => file.endsWith(`-${name}`));

function flipped(data: Buffer, at: number): Buffer {
  const copy = Buffer.from(data);
  copy[at] = (copy[at] ?? 0) ^ 0x55;
  return copy;
}

test("what another user could have kept is not taken, and nothing in its place is waited for", () => {
  const { stdout } = prloom("--version");
  const [file = ""] = keptFiles("other-main.js");
  const kept = readFileSync(file);
  const aside = join(dir, "aside");
  writeFileSync(aside, kept);
  const places: Record<string, () => void> = {
    pipe: () => execFileSync("mkfifo", [file]),
    link: () => symlinkSync(aside, file),
    endless: () => symlinkSync("/dev/zero", file),
  };
  if (process.getuid?.() === 0) {
    places.theirs = () => {
      writeFileSync(file, kept);
      chownSync(file, 65534, 65534);
    };
  }
  for (const [what, put] of Object.entries(places)) {
    rmSync(file);
    put();
    assert.deepEqual(prloom("--version"), { code: 0, stdout, stderr: "" }, what);
    const now = lstatSync(file);
    assert.ok(now.isFile() && now.uid === process.getuid?.(), what);
  }
});

test("nothing is kept in a folder that is not this user's alone", () => {
  const { stdout } = prloom("--version");
  const others: Record<string, () => void> = {
    link: () => {
      mkdirSync(join(dir, "elsewhere"));
      symlinkSync(join(dir, "elsewhere"), own());
    },
    open: () => {
      mkdirSync(own());
      chmodSync(own(), 0o777);
    },
  };
  for (const [what, put] of Object.entries(others)) {
    rmSync(own(), { recursive: true });
    put();
    assert.deepEqual(prloom("--version"), { code: 0, stdout, stderr: "" }, what);
    assert.deepEqual(readdirSync(own()), [], what);
  }
  rmSync(own(), { recursive: true });
});

test("the demo runs from the package", thorough, () => {
  const { code, stdout, stderr } = prloom("demo", "--json", "--no-keep");
  assert.equal(code, 0, stderr);
  const result = JSON.parse(stdout);
  assert.deepEqual(result.progress, { total: 5, completed: 5 });
  assert.equal(result.commits.length, 5);
  assert.equal(result.status, "review");
  assert.ok(!existsSync(result.dir), "--no-keep leaves nothing behind");
});

test("the entry for OpenCode is its plugin, and changes nothing where prloom did not start it", async () => {
  const { exports } = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
  const { default: plugin } = await import(join(unpacked, exports["./opencode"]));
  assert.deepEqual(Object.keys(plugin).sort(), ["id", "server"]);
  assert.deepEqual(await plugin.server({}), {});
});

test("the entry for authors is the only other one, can be imported, and its types resolve to files", async () => {
  const { exports } = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
  assert.deepEqual(Object.keys(exports), ["./plugin", "./opencode", "./package.json"]);
  const entry = exports["./plugin"];
  const loaded = await import(join(unpacked, entry.default));
  const functions = ["actionMarker", "appendTodos", "defineBridge", "definePlugin", "mayWrite", "trackerBridge"];
  assert.deepEqual(Object.keys(loaded).sort(), functions);
  assert.equal(loaded.appendTodos("# A plan\n", ["One"]), "# A plan\n\n## TODO\n\n- [ ] One\n");
  for (const name of functions) assert.match(readFileSync(join(unpacked, entry.types), "utf8"), new RegExp(name));
});

test("its declarations need no other package", () => {
  const foreign = declarations(join(unpacked, "dist")).flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/\b(?:from|import\(|reference \w+=)\s*"([^."][^"]*)"/g)].map(
      ([, name]) => `${file}: ${name}`,
    ),
  );
  assert.deepEqual(foreign, []);
});

const AUTHORS = {
  "no types but the language's": { lib: ["es2023"], nodeTypes: false },
  "Node's types": { lib: ["es2023"], nodeTypes: true },
  "a browser's types": { lib: ["es2023", "dom"], nodeTypes: false },
};
for (const [who, author] of Object.entries(AUTHORS)) {
  const options = author.nodeTypes || author.lib.length > 1 ? thorough : {};
  test(`a plugin and a bridge compile against what was installed, with ${who}`, options, () => {
    const at = join(dir, `author-${author.lib.length}-${author.nodeTypes}`);
    cpSync(installed, at, { recursive: true });
    // Where there is a real one, it is handed on; where there is none, nothing takes one.
    const hasSignal = author.nodeTypes || author.lib.includes("dom");
    const signal = `import type { CallSignal } from "prloom/plugin";\nexport const hand = (one: CallSignal): AbortSignal => one;\n`;
    const good = { "plugin.ts": GOOD_PLUGIN, "bridge.ts": GOOD_BRIDGE };
    const programs = { ...good, ...(hasSignal ? { "signal.ts": signal } : {}) };
    assert.deepEqual([...compile(at, programs, { root, ...author })], []);
  });
}

test("wrong programs do not compile against what was installed", () => {
  const at = join(dir, "wrong");
  cpSync(installed, at, { recursive: true });
  const names = Object.keys(WRONG);
  const programs = Object.fromEntries(Object.values(WRONG).map(({ text }, index) => [`wrong-${index}.ts`, text]));
  const errors = compile(at, programs, { root, lib: ["es2023"], nodeTypes: false });
  const found = names.map((name, index) => {
    const codes = (errors.get(`wrong-${index}.ts`) ?? []).map((error) => error.replace(/:.*/, ""));
    return [name, [...new Set(codes)].join()];
  });
  assert.deepEqual(
    Object.fromEntries(found),
    Object.fromEntries(names.map((name) => [name, WRONG[name]?.code])),
    JSON.stringify([...errors], null, 1),
  );
  assert.deepEqual(
    [...errors.keys()].filter((file) => !file.startsWith("wrong-")),
    [],
  );
});
