import assert from "node:assert/strict";
import { test } from "node:test";
import {
  arrangeMounts,
  BASE_ARGS,
  type BwrapFeatures,
  type Mount,
  sandboxArgs,
} from "../../../src/agents/sandbox/args.ts";
import { layoutSandbox, type SandboxPlan } from "../../../src/agents/sandbox/layout.ts";
import { terminalArgs } from "../../../src/agents/sandbox/terminal.ts";

const read = (path: string, from?: string): Mount => ({ kind: "read", path, ...(from ? { from } : {}) });
const write = (path: string, from?: string): Mount => ({ kind: "write", path, ...(from ? { from } : {}) });
const empty = (path: string): Mount => ({ kind: "empty", path });

const ARRANGED: readonly [what: string, wanted: Mount[], paths: string[]][] = [
  ["what lies in a folder comes after it", [read("/tmp/a/b"), empty("/tmp")], ["/tmp", "/tmp/a/b"]],
  ["what can be read anyway is left out", [read("/usr/bin"), read("/opt/x/y")], []],
  ["below a read-only view too", [empty("/home"), read("/home/a"), read("/home/a/b")], ["/home", "/home/a"]],
  ["but not below one of something else", [read("/a", "/b"), read("/a/c")], ["/a", "/a/c"]],
  ["nor in what can be written", [write("/a"), read("/a/.git")], ["/a", "/a/.git"]],
  ["an empty folder in an empty folder is none", [empty("/tmp/x"), empty("/tmp")], ["/tmp"]],
  ["a link that is there anyway is left out", [{ kind: "link", path: "/usr/bin/x", to: "/y" }], []],
  ["a link in a hidden folder is made", [empty("/h"), { kind: "link", path: "/h/x", to: "/y" }], ["/h", "/h/x"]],
];

for (const [what, wanted, paths] of ARRANGED) {
  test(`mounts: ${what}`, () => {
    assert.deepEqual(
      arrangeMounts(wanted).map(({ path }) => path),
      paths,
    );
  });
}

test("mounts: at one place the private home is stronger than the repository, and that than nothing", () => {
  const mounts = arrangeMounts([write("/h", "/private"), read("/h"), empty("/h")]);
  assert.deepEqual(mounts, [write("/h", "/private")]);
});

const PLAN: SandboxPlan = {
  home: { path: "/home/me", from: "/home/me/.local/state/prloom/h/homes/u/a" },
  cache: "/home/me/.cache/prloom/h",
  hidden: ["/tmp", "/run", "/var/tmp"],
  sealed: ["/home/me/code/prloom/.local", "/home/me/code/prloom/.local/worktrees"],
  secret: ["/etc/shadow"],
  repository: {
    root: "/home/me/code",
    commonDir: "/home/me/code/.git",
    objects: "/home/me/code/.git/objects",
    objectsAt: "/home/me/code/.git/real-objects",
    alternates: ["/home/me/store/objects"],
    hasAlternates: true,
    shadow: "/home/me/code/.git/prloom/plans/p/runs/1/shadow",
    emptyFile: "/home/me/code/.git/prloom/plans/p/runs/1/shadow/empty",
  },
  worktree: {
    path: "/home/me/code/prloom/.local/worktrees/p",
    from: "/home/me/code/.git/prloom/plans/p/runs/1/view",
    gitFile: "/home/me/code/.git/prloom/plans/p/runs/1/git-file",
  },
  masked: [],
  agentDir: "/home/me/code/.git/prloom/plans/p/runs/1/agent",
  blank: ["/home/me/code/.git/prloom/plans/p/bus"],
  places: [read("/home/me/.nvm"), read("/usr/bin")],
  configuration: [{ from: "/home/me/code/.git/prloom/plans/p/runs/1/overlays/0", path: "/home/me/.claude/agents" }],
};
const PLAIN: BwrapFeatures = { seals: false, sizes: false, filters: false };
const GIGABYTES = 1024 ** 3;

test("a repository below the home: everything is laid over in an order that shows just what it should", () => {
  const { shadow, emptyFile, objects } = PLAN.repository;
  const args = sandboxArgs(layoutSandbox(PLAN), PLAIN, 0);
  assert.deepEqual(args.slice(0, BASE_ARGS.length), [...BASE_ARGS]);
  assert.deepEqual(args.slice(BASE_ARGS.length), [
    ...["--tmpfs", "/dev/shm"],
    ...["--tmpfs", "/run"],
    ...["--tmpfs", "/tmp"],
    ...["--ro-bind", emptyFile, "/etc/shadow"],
    ...["--bind", PLAN.home.from, "/home/me"],
    ...["--tmpfs", "/var/tmp"],
    ...["--bind", PLAN.cache, "/home/me/.cache"],
    ...["--ro-bind", "/home/me/.nvm", "/home/me/.nvm"],
    ...["--ro-bind", "/home/me/code", "/home/me/code"],
    ...["--bind", "/home/me/code/.git/prloom/plans/p/runs/1/overlays/0", "/home/me/.claude/agents"],
    ...["--bind", shadow, "/home/me/code/.git"],
    ...["--ro-bind", "/home/me/store/objects", "/home/me/store/objects"],
    ...["--tmpfs", "/home/me/code/.git/prloom"],
    ...["--ro-bind", objects, "/home/me/code/.git/real-objects"],
    ...["--tmpfs", "/home/me/code/prloom/.local"],
    ...["--ro-bind", emptyFile, "/home/me/code/.git/real-objects/info/alternates"],
    ...["--bind", PLAN.worktree.from, PLAN.worktree.path],
    ...["--symlink", "/dev/null", "/home/me/code/.git/prloom/plans/p/bus"],
    ...["--ro-bind", PLAN.worktree.gitFile, `${PLAN.worktree.path}/.git`],
    ...["--bind", PLAN.agentDir, PLAN.agentDir],
    ...["--remount-ro", "/home/me/code/prloom/.local"],
    ...["--remount-ro", "/dev"],
  ]);
});

test("what a program would run of the repository's whatever it is told is seen as empty", () => {
  const folder = `${PLAN.worktree.path}/.opencode`;
  const file = `${PLAN.worktree.path}/opencode.json`;
  const masked = [
    { path: folder, isFolder: true },
    { path: file, isFolder: false },
  ];
  const args = sandboxArgs(layoutSandbox({ ...PLAN, masked }), PLAIN, 0).join(" ");
  assert.match(args, new RegExp(`--bind ${PLAN.worktree.from} .*--tmpfs ${folder} .*--remount-ro ${folder}`));
  assert.match(args, new RegExp(`--ro-bind ${PLAN.repository.emptyFile} ${file}`));
});

test("where bwrap can, no namespaces are made inside, and folders in memory have a size", () => {
  const mounts = [empty("/run"), empty("/tmp")];
  const strong = sandboxArgs(mounts, { seals: true, sizes: true, filters: true }, 8 * GIGABYTES);
  assert.deepEqual(strong.slice(0, 4), ["--unshare-user", "--disable-userns", "--seccomp", "5"]);
  assert.deepEqual(strong.slice(4 + BASE_ARGS.length), [
    ...["--size", String(2 * GIGABYTES), "--tmpfs", "/dev/shm"],
    ...["--size", String(GIGABYTES / 16), "--tmpfs", "/run"],
    ...["--size", String(2 * GIGABYTES), "--tmpfs", "/tmp"],
    ...["--remount-ro", "/dev"],
  ]);
  assert.doesNotMatch(sandboxArgs(mounts, PLAIN, GIGABYTES).join(" "), /--size|userns|seccomp/);
});

test("a repository that is the home itself is not seen, but its worktree and its shadow are", () => {
  const root = "/home/me";
  const mounts = layoutSandbox({ ...PLAN, repository: { ...PLAN.repository, root, commonDir: "/home/me/.git" } });
  const at = (path: string) => mounts.find((mount) => mount.path === path);
  assert.deepEqual(at("/home/me"), { kind: "write", path: "/home/me", from: PLAN.home.from });
  assert.equal(at("/home/me/.git")?.kind, "write");
  assert.equal(at(PLAN.worktree.path)?.kind, "write");
});

test("nothing is taken from the agent's capabilities that it could use to undo the rest", () => {
  const args = BASE_ARGS.join(" ");
  assert.match(args, /--cap-drop ALL/);
  assert.match(args, /--proc \/proc --ro-bind-try \/proc\/sys \/proc\/sys/);
  assert.doesNotMatch(args, /--share|--cap-add|--dev-bind/);
});

const TERMINALS: readonly [string | undefined, readonly string[]][] = [
  ["0\n", []],
  ["1\n", ["--new-session"]],
  [undefined, ["--new-session"]],
];
for (const [setting, args] of TERMINALS) {
  test(`with a terminal, where legacy_tiocsti is ${setting?.trim()}`, () => {
    assert.deepEqual(terminalArgs(setting === undefined ? "" : setting), args);
  });
}
