import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import fs, {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import type { HomeItem } from "../../../src/agents/program.ts";
import type { Mount } from "../../../src/agents/sandbox/args.ts";
import { besideOf, furnishHome, prepareMountPoints, renewHome } from "../../../src/agents/sandbox/private-home.ts";
import { readInside } from "../../../src/kernel/held/files.ts";

let base = "";
let home = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "prloom-home-")));
  home = at("private");
  mkdirSync(home);
  put("trap/kept", "the user's own");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const at = (path: string): string => join(base, path);
const read = (path: string): string => readFileSync(path, "utf8");
function put(path: string, text = ""): string {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
  return at(path);
}
const furnish = (items: readonly HomeItem[]) => furnishHome({ home, overlays: at("overlays"), items });
const isUntouched = () =>
  assert.deepEqual([readdirSync(at("trap")), read(at("trap/kept"))], [["kept"], "the user's own"]);

test("places for mounts are made without following what an agent left in its home", () => {
  for (const name of [".nvm", ".cache", ".claude"]) symlinkSync(at("trap"), join(home, name));
  mkdirSync(join(home, "bin/link/full"), { recursive: true });
  mkdirSync(join(home, "file/full"), { recursive: true });
  put("tools/file", "x");
  const mounts: Mount[] = [
    { kind: "write", path: "/home/me", from: home },
    { kind: "read", path: "/home/me/.nvm/versions", from: at("tools") },
    { kind: "write", path: "/home/me/.claude/login.json", from: at("tools/file") },
    { kind: "read", path: "/home/me/file", from: at("tools/file") },
    { kind: "empty", path: "/home/me/.cache" },
    { kind: "link", path: "/home/me/.nvm/link", to: "/elsewhere" },
    { kind: "link", path: "/home/me/bin/link", to: "/elsewhere" },
  ];
  for (const time of ["first", "second"]) {
    assert.equal(prepareMountPoints(mounts).length, 5, `the links are made already, the ${time} time`);
    isUntouched();
    for (const folder of [".nvm/versions", ".cache", ".claude"]) {
      assert.ok(lstatSync(join(home, folder)).isDirectory(), folder);
    }
    for (const file of [".claude/login.json", "file"]) assert.ok(lstatSync(join(home, file)).isFile(), file);
    for (const link of [".nvm/link", "bin/link"]) assert.equal(readlinkSync(join(home, link)), "/elsewhere");
  }
});

test("files of the user are copied in afresh, folders are laid over, and no link of an agent is followed", async () => {
  symlinkSync(at("trap"), join(home, ".config"));
  put("dotfiles/settings.json", "{}");
  mkdirSync(at("user/agent"), { recursive: true });
  symlinkSync(at("dotfiles/settings.json"), at("user/agent/settings.json"));
  symlinkSync(at("nowhere"), at("user/agent/dangling"));
  put("user/login", "secret");
  const items: HomeItem[] = [
    { from: at("user/agent"), to: ".config/agent", kind: "config" },
    { from: at("user/missing"), to: ".config/missing", kind: "config" },
    { from: at("dotfiles/settings.json"), to: ".config/settings.json", kind: "config" },
    { from: at("user/login"), to: ".config/login", kind: "login" },
  ];
  for (const time of ["first", "second"]) {
    const { folders, logins } = await furnish(items);
    isUntouched();
    assert.deepEqual(folders, [{ from: at("overlays/0"), to: ".config/agent" }], time);
    assert.deepEqual(readdirSync(at("overlays/0")), ["settings.json"]);
    assert.ok(lstatSync(at("overlays/0/settings.json")).isFile());
    assert.deepEqual(
      logins.map(({ from, to }) => [from, to]),
      [[at("user/login"), ".config/login"]],
    );
    assert.equal(read(join(home, ".config/settings.json")), "{}");
    assert.equal(read(join(home, ".config/login")), "secret");
    assert.equal(lstatSync(join(home, ".config/login")).mode & 0o777, 0o600);
    // What an agent makes of it until the next time.
    for (const name of ["settings.json", "login"]) rmSync(join(home, ".config", name));
    symlinkSync(at("trap/kept"), join(home, ".config/settings.json"));
    for (const name of ["login/full", "missing/plugin"]) mkdirSync(join(home, ".config", name), { recursive: true });
  }
  await furnish(items);
  assert.equal(existsSync(join(home, ".config/missing")), false, "what the user does not have stayed");
  isUntouched();
});

/** Exchanges `.config` and a link to the trap as fast as it can, as an agent at work could. */
const SWAP = `
import ctypes, os, sys
os.chdir(sys.argv[1])
libc = ctypes.CDLL(None)
print("ready", flush=True)
while os.path.exists(sys.argv[2]):
  for i in range(100):
    if libc.renameat2(-100, b".config", -100, b"link", 2) == 0: continue
    try: os.symlink(sys.argv[3], "link")
    except FileExistsError: pass
`;

async function swapper(): Promise<ChildProcess> {
  mkdirSync(join(home, ".config/agent"), { recursive: true });
  symlinkSync(at("trap"), join(home, "link"));
  put("go");
  const child = spawn("python3", ["-c", SWAP, home, at("go"), at("trap")], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}

const hasPython = (() => {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false; // then there is nothing to exchange with
  }
})();

test("an agent that exchanges folders for links meanwhile leads us nowhere", {
  skip: !hasPython && "no python3",
}, async () => {
  put("trap/agent/precious", "the user's own");
  put("user/settings.json", "{}");
  const items: HomeItem[] = [
    { from: at("user/settings.json"), to: ".config/agent/settings.json", kind: "config" },
    { from: at("user/missing"), to: ".config/agent", kind: "config" },
  ];
  const mounts: Mount[] = [
    { kind: "write", path: "/home/me", from: home },
    { kind: "read", path: "/home/me/.config/agent", from: at("user") },
    { kind: "link", path: "/home/me/.config/made", to: "/elsewhere" },
  ];
  const child = await swapper();
  try {
    for (let i = 0; i < 300; i += 1) {
      // It may be too fast for us to get anything done; that is harmless.
      await furnish(items).catch(tooFast);
      try {
        prepareMountPoints(mounts);
      } catch (error) {
        tooFast(error);
      }
      assert.equal(readInside(home, ".config/agent/precious", 1000), undefined);
      assert.deepEqual(readdirSync(at("trap")), ["agent", "kept"]);
      assert.deepEqual(readdirSync(at("trap/agent")), ["precious"]);
    }
  } finally {
    rmSync(at("go"));
    if (child.exitCode === null) await once(child, "exit");
  }
});

function tooFast(error: unknown): void {
  assert.match(String((error as NodeJS.ErrnoException).code), /ELOOP|ENOTDIR|EEXIST|ENOENT/);
}

test("of a home only real files in real folders are read, and small ones", () => {
  put("private/a/file", "text");
  symlinkSync(at("trap/kept"), join(home, "a/link"));
  symlinkSync(at("trap"), join(home, "b"));
  execFileSync("mkfifo", [join(home, "a/pipe")]);
  const table: readonly [string, string | undefined][] = [
    ["a/file", "text"],
    ["a/link", undefined],
    ["b/kept", undefined],
    ["a/pipe", undefined],
    ["a", undefined],
    ["a/missing", undefined],
  ];
  for (const [path, text] of table) assert.equal(readInside(home, path, 4)?.toString(), text, path);
  assert.equal(readInside(home, "a/file", 3), undefined);
});

test("of a home only what is named is there for the next run, and no link of an agent leads out of it", async () => {
  const keeps = [".mine/sessions", ".mine/logs/*/*.jsonl", "missing", ".linked/file"];
  for (const file of [".mine/sessions/a/b", ".mine/logs/x/1.jsonl", ".mine/logs/x/memory.md", ".bashrc", "bin/git"])
    put(`private/${file}`, file);
  symlinkSync(at("trap"), join(home, ".mine/logs/link"));
  symlinkSync(at("trap"), join(home, ".linked"));
  symlinkSync(at("trap/kept"), join(home, ".mine/logs/x/2.jsonl"));
  const filesIn = () =>
    execFileSync("find", [".", "!", "-type", "d"], { cwd: home, encoding: "utf8" }).split("\n").sort();
  for (const time of ["first", "second"]) {
    await renewHome(home, keeps);
    assert.deepEqual(filesIn(), ["", "./.mine/logs/x/1.jsonl", "./.mine/sessions/a/b"], time);
    assert.deepEqual(readdirSync(besideOf(home)), []);
    put("private/.profile", "planted");
  }
  isUntouched();
});

test("a home that was being rebuilt when we were killed loses nothing that is kept", async () => {
  put("private.beside/old/.mine/sessions/late", "late");
  put("private.beside/old/.bashrc", "planted");
  put("private/.mine/sessions-of-another/early", "early");
  await renewHome(home, [".mine/sessions", ".mine/sessions-of-another"]);
  assert.equal(read(join(home, ".mine/sessions/late")), "late");
  assert.equal(read(join(home, ".mine/sessions-of-another/early")), "early");
  assert.equal(existsSync(join(home, ".bashrc")), false);
  assert.deepEqual(readdirSync(besideOf(home)), []);
});

test("a home full of folders, deep or wide or closed, is out of the way at once", async () => {
  const script = `for (const name of ["c1", "c2", "c3"]) {
    process.chdir(${JSON.stringify(home)});
    for (const folder of [name, ...Array(900).fill("a")]) {
      require("fs").mkdirSync(folder);
      process.chdir(folder);
    }
  }`;
  execFileSync(process.execPath, ["-e", script]);
  for (let index = 0; index < 3000; index += 1) mkdirSync(join(home, `wide/${index}`), { recursive: true });
  put("private/.mine/sessions/one", "kept");
  chmodSync(join(home, ".mine"), 0o000);
  chmodSync(join(home, "wide"), 0o000);
  await renewHome(home, [".mine/sessions"]);
  assert.deepEqual(readdirSync(home), [".mine"]);
  assert.equal(read(join(home, ".mine/sessions/one")), "kept");
});

test("of folders in folders that a pattern fits no more are looked through than can be kept", async (context) => {
  for (let index = 0; index < 2500; index += 1)
    mkdirSync(join(home, String(index % 50), String(index)), { recursive: true });
  const listings = context.mock.method(fs, "opendirSync");
  syncBuiltinESMExports();
  await renewHome(home, ["*/*/*"]);
  // A thousand for the places, and two thousand that are removed at once.
  assert(listings.mock.callCount() < 3500, `${listings.mock.callCount()} folders`);
  listings.mock.restore();
  syncBuiltinESMExports();
});

test("others have their turn while much is kept", async () => {
  for (let index = 0; index < 1000; index += 1) put(`private/.mine/logs/${index}/1.jsonl`, "kept");
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  await renewHome(home, [".mine/logs/*/*.jsonl"]);
  clearInterval(timer);
  assert.equal(readdirSync(join(home, ".mine/logs")).length, 1000);
  assert(turns > 0);
});

test("a home that is closed itself is rebuilt, too", async () => {
  const owner = process.getuid?.() === 0 ? 65_534 : undefined;
  put("private/.mine/sessions/one", "kept");
  // Root may do anything, so the test would prove nothing.
  if (owner !== undefined) execFileSync("chown", ["-R", String(owner), base]);
  if (owner !== undefined) process.seteuid?.(owner);
  try {
    for (const mode of [0o000, 0o555]) {
      chmodSync(home, mode);
      await renewHome(home, [".mine/sessions"]);
      assert.equal(read(join(home, ".mine/sessions/one")), "kept");
    }
  } finally {
    if (owner !== undefined) process.seteuid?.(0);
  }
});

test("a home that is new is one folder, and nothing is made beside it or for copies that there are none of", async () => {
  rmSync(home, { recursive: true });
  await renewHome(home, [".mine/sessions"]);
  assert.deepEqual(readdirSync(home), []);
  assert.deepEqual(await furnish([]), { folders: [], logins: [] });
  assert.deepEqual(readdirSync(base).sort(), ["private", "trap"]);
});
