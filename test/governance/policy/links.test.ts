import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, fakeFiles, policy, ROOT, ruleOf } from "./fixtures.ts";

const LINKS = { [`${ROOT}/out`]: "/home/person/sub", [`${ROOT}/fd`]: "/proc/7/fd" };
const files = fakeFiles(LINKS, [`${ROOT}/out`, `${ROOT}/src`]);

/** The kernel takes `..` after links, a program that tidies paths before it: a command must mean the same to both. */
const COMMANDS: readonly [command: string, expected: string][] = [
  ["echo x > out/../a", "shell safety"],
  ["cd out && echo x > ../a", "shell safety"],
  ["cp a.ts out/../b.ts", "shell safety"],
  ["rm -f out/../*.log", "shell safety"],
  ["cd src && echo x > ../a", "allowed"],
  ["echo x > src/../a", "allowed"],
  ["rm -f src/../*.log", "allowed"],
  ["cat out/../notes", "allowed"],
  ["cat fd/../environ", "shell safety"],
];

for (const [command, expected] of COMMANDS)
  test(`dots behind a link: ${command} is ${expected}`, () => {
    assert.equal(ruleOf(ask("bash", { command }, { files })), expected);
  });

for (const [command, expected] of [
  ["rm out", "allowed"],
  ["rm -rf src/../out", "allowed"],
  ["unlink ./out", "allowed"],
  ["rm -rf out/", "shell safety"],
  ["rm -rf out/.", "shell safety"],
  ["rm -rf out/a", "shell safety"],
  ["rm -rf out/../a", "shell safety"],
  ["shred out", "shell safety"],
  ["find out -delete", "shell safety"],
  ["rm /home/person/link", "shell safety"],
] as const)
  test(`a link that is deleted goes itself: ${command} is ${expected}`, () => {
    const linked = fakeFiles({ ...LINKS, "/home/person/link": `${ROOT}/src` }, [`${ROOT}/out`, `${ROOT}/src`]);
    assert.equal(ruleOf(ask("bash", { command }, { files: linked })), expected);
  });

/** `build/deep` leads out; a search does not go there, but a name that it finds in another folder can. */
const ASIDE = fakeFiles({ [`${ROOT}/build/deep`]: "/home/person/sub" }, [`${ROOT}/build`, `${ROOT}/src`]);
const aside = {
  ...ASIDE,
  entries: (path: string) =>
    path === `${ROOT}/build`
      ? { links: ["deep"], folders: [], others: [] }
      : { links: [], folders: path === ROOT ? ["build", "src"] : [], others: [] },
};
for (const [command, expected] of [
  ["cd src; find . -type f | while read f; do cp $f ../build/$f; done", "shell safety"],
  [`cd src; find . -type f | while read f; do cp $f ${ROOT}/build/$f; done`, "shell safety"],
  ["find src | while read f; do cp a.ts build/$(basename $f); done", "shell safety"],
  ["find src -name 'd*' | while read f; do cp a.ts build/$(basename $f); done", "shell safety"],
  ["find build | while read d; do echo > $d/a; done", "shell safety"],
  ["find build -type d | while read d; do echo > $d/a; done", "allowed"],
  ["find src -name '*.ts' | while read f; do cp $f build/$(basename $f); done", "allowed"],
  ["find src -type f | while read f; do cp $f test/$f; done", "allowed"],
] as const)
  test(`names that are used where they were not found: ${command} is ${expected}`, () => {
    assert.equal(ruleOf(ask("bash", { command }, { files: aside })), expected);
  });

/** What lies in `prloom`, which is protected: a pattern that begins with a star means that folder as well. */
const KEPT = {
  ...fakeFiles({}, [`${ROOT}/prloom`]),
  entries: (path: string) =>
    path === `${ROOT}/prloom/`
      ? { links: [], folders: ["plans", ".local"], others: ["notes.md"] }
      : { links: [], folders: [], others: path === `${ROOT}/prloom/plans/` ? ["cart.ts"] : [] },
};
for (const [command, expected] of [
  ["rm -rf */dist", "allowed"],
  ["rm -rf **/__pycache__", "allowed"],
  ["sed -i s/a/b/ */package.json", "allowed"],
  ["sed -i s/a/b/ */*.ts", "allowed"],
  ['for d in */; do rm -rf "$d/dist"; done', "allowed"],
  ["rm -rf */plans", "shell safety"],
  ["rm */*/cart.ts", "shell safety"],
  ["shopt -s globstar; sed -i s/a/b/ **/*.ts", "shell safety"],
  ["rm */*.md", "shell safety"],
  ["rm -rf */.local", "shell safety"],
  ["rm -rf */*", "shell safety"],
  ["rm -rf */", "shell safety"],
  ['for d in */; do echo x > "$d/config.json"; done', "shell safety"],
  ['for d in .gi?; do echo x > "$d/hooks/post-commit"; done', "shell safety"],
] as const)
  test(`a pattern means of a protected folder what is there, or decides something: ${command} is ${expected}`, () => {
    assert.equal(ruleOf(ask("bash", { command }, { files: KEPT })), expected);
  });

test("a folder is looked into once for all patterns of a command", () => {
  const looked: string[] = [];
  const counting = {
    ...KEPT,
    entries(path: string) {
      looked.push(path);
      return KEPT.entries(path);
    },
  };
  const command = `rm -f ${Array.from({ length: 50 }, (_, at) => `*/a${at}*.log`).join(" ")}`;
  assert.equal(ruleOf(ask("bash", { command }, { files: counting })), "allowed");
  assert.equal(looked.length, new Set(looked).size);
});

test("names in a protected folder are compared so often, and no further", () => {
  const others = Array.from({ length: 9000 }, (_, at) => `plan-${at}.txt`);
  const full = { ...KEPT, entries: (path: string) => ({ ...KEPT.entries(path), others }) };
  const commandOf = (count: number) => `rm -f ${Array.from({ length: count }, (_, at) => `*/a${at}`).join(" ")}`;
  assert.equal(ruleOf(ask("bash", { command: commandOf(2) }, { files: full })), "allowed");
  assert.equal(ruleOf(ask("bash", { command: commandOf(500) }, { files: full })), "shell safety");
});

test("a pattern means what is protected in a folder, and not what lies beside it there", () => {
  const files = {
    ...fakeFiles(),
    entries: (path: string) => ({
      links: [],
      folders: path === `${ROOT}/config/` ? ["prod", "test"] : [],
      others: path.endsWith("/") && path !== `${ROOT}/config/` ? ["a.yml"] : [],
    }),
  };
  const ruleWith = (command: string) =>
    ruleOf(ask("bash", { command }, { files, policy: policy({ protected: ["config/prod/**", "config/live.json"] }) }));
  assert.equal(ruleWith("rm -rf */test"), "allowed");
  assert.equal(ruleWith("rm */te*/a.yml"), "allowed");
  assert.equal(ruleWith("rm */*/a.yml"), "shell safety");
  assert.equal(ruleWith("rm -rf */prod"), "shell safety");
  assert.equal(ruleWith("rm -rf */p*"), "shell safety");
  assert.equal(ruleWith('for d in */; do cp a.ts "$d/live.json"; done'), "shell safety");
  assert.equal(ruleWith('for d in */; do cp a.ts "$d/test.json"; done'), "allowed");
});

test("a folder of the worktree is looked into, whatever has its name where prloom runs", () => {
  const inTree = fakeFiles({ [`${ROOT}/notes/a.ts`]: "/etc/a.ts" }, [`${ROOT}/notes`]);
  const fromElsewhere = { ...inTree, kind: (path: string) => (path.startsWith("/") ? inTree.kind(path) : "file") };
  assert.equal(ruleOf(ask("bash", { command: "cp a.ts notes" }, { files: fromElsewhere })), "shell safety");
});

/** OpenCode and Claude Code read instructions with the files of their folder, by themselves. */
const INSTRUCTING = fakeFiles(
  { [`${ROOT}/a/AGENTS.md`]: "../.env", [`${ROOT}/b/CLAUDE.md`]: "notes.md", [`${ROOT}/in`]: "a" },
  [`${ROOT}/a`, `${ROOT}/a/deep`, `${ROOT}/b`],
);
for (const [tool, path, expected] of [
  ["read", "a/x.ts", "path scope"],
  ["read", "a/deep/x.ts", "path scope"],
  ["read", "in/deep/x.ts", "path scope"],
  ["write", "a/x.ts", "allowed"],
  ["read", "b/x.ts", "allowed"],
  ["read", "x.ts", "allowed"],
] as const)
  test(`instructions that are a link to a secret: ${tool} of ${path} is ${expected}`, () => {
    assert.equal(ruleOf(ask(tool, { filePath: path, content: "x" }, { files: INSTRUCTING })), expected);
  });
