import assert from "node:assert/strict";
import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, test } from "node:test";
import { importModule } from "../../../src/hooks/modules/import-module.ts";
import { recordedModules, sealModules } from "../../../src/hooks/modules/pinned-modules.ts";
import { sha256 } from "../../../src/kernel/ids.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "prloom-pinned-")));
after(() => rmSync(base, { recursive: true, force: true }));
afterEach(() => sealModules(undefined));
let count = 0;

function repository(files: Record<string, string>): { root: string; write(path: string, text: string): void } {
  count += 1;
  const root = join(base, String(count));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { root, write };
}

const load = async (root: string, specifier: string) =>
  (await importModule({ repoRoot: root, specifier })) as (name?: string) => Promise<unknown>;

/** As a dispatcher does it: by the time of a file that is written now. */
function sealNow(root: string): void {
  writeFileSync(join(root, "pin"), "");
  sealModules(statSync(join(root, "pin")).ctimeMs);
}

/** The file system's clock ticks every few milliseconds; what is as old as the pin counts as changed. */
function sealAfter(root: string, path: string): void {
  const { ctimeMs } = lstatSync(join(root, path));
  do sealNow(root);
  while (statSync(join(root, "pin")).ctimeMs <= ctimeMs);
}

type Refused = Error & { code: string };

test("what a module imports later is what it was: TypeScript, JSON, CommonJS, and what these import", async () => {
  const { root, write } = repository({
    "main.ts": `export default async (): Promise<unknown> => [
      (await import("./late.ts")).word,
      (await import("./data.json", { with: { type: "json" } })).default.word,
      (await import("./old.cjs")).default.word,
    ];`,
    "late.ts": `import { deep } from "./deep/deep.ts"; export const word: string = deep;`,
    "deep/deep.ts": `export const deep: string = "mine";`,
    "data.json": `{"word": "mine"}`,
    "old.cjs": `exports.word = require("./older.cjs").word;`,
    "older.cjs": `exports.word = "mine";`,
  });
  const act = await load(root, "./main.ts");
  const recorded = recordedModules(root);
  const paths = ["data.json", "deep/deep.ts", "late.ts", "main.ts", "old.cjs", "older.cjs"];
  assert.deepEqual(recorded.map(({ path }) => path).sort(), paths);
  assert.equal(recorded.find(({ path }) => path === "data.json")?.sha256, sha256(`{"word": "mine"}`));
  sealNow(root);
  rmSync(join(root, "deep"), { recursive: true });
  for (const path of ["late.ts", "old.cjs", "older.cjs", "data.json"]) write(path, "evil(");
  assert.deepEqual(await act(), ["mine", "mine", "mine"]);
});

test("what no module named is loaded while it is older than the pin, and is refused when it changed, packages too", async () => {
  const { root, write } = repository({
    "main.mjs": `export default (name) => import(name).then((module) => module.word);`,
    "kept.mjs": `export const word = "kept";`,
    "changed.mjs": `export const word = "mine";`,
    "node_modules/kept/package.json": `{"type": "module", "exports": "./index.js"}`,
    "node_modules/kept/index.js": `export const word = "kept";`,
    "node_modules/swapped/package.json": `{"type": "module", "exports": "./index.js"}`,
    "node_modules/swapped/index.js": `export const word = "mine";`,
  });
  const act = await load(root, "./main.mjs");
  assert.deepEqual(
    recordedModules(root).map(({ path }) => path),
    ["main.mjs"],
  );
  sealAfter(root, "node_modules/swapped/index.js");
  for (const path of ["changed.mjs", "node_modules/swapped/index.js"]) write(path, `export const word = "evil";`);
  assert.equal(await act("./kept.mjs"), "kept");
  assert.equal(await act("kept"), "kept");
  for (const name of ["./changed.mjs", "swapped"]) {
    await assert.rejects(act(name), (error: Refused) => {
      assert.equal(error.code, "pin-changed");
      assert.match(error.message, /changed after the dispatcher was started\. `prloom stop`, then `prloom start`/);
      return true;
    });
  }
  sealModules(undefined);
  assert.equal(await act("./changed.mjs"), "evil", "the next start takes it");
});

/** What a branch can bring so that a name leads to a file that is older than the pin. */
const DETOURS: readonly [what: string, name: string, bring: (root: string) => void][] = [
  ["a package that is a link", "pad", (root) => link(root, "plugins/node_modules/pad", "../../old/pad")],
  ["a folder of packages that is a link", "pad", (root) => link(root, "plugins/node_modules", "../old")],
  [
    "a file in place of a package",
    "pad",
    (root) => link(root, "plugins/node_modules/pad.js", "../../old/pad/index.js"),
  ],
  [
    "a package without a package.json",
    "pad",
    (root) => link(root, "plugins/node_modules/pad/index.js", "../../../old/pad/index.js"),
  ],
  ["another main", "pad", (root) => put(root, "node_modules/pad/package.json", `{"main": "./other.js"}`)],
  ["a link in a package", "pad/sub.js", (root) => link(root, "node_modules/pad/sub.js", "../../old/pad/index.js")],
  ["a link that an old link leads to", "linked", (root) => relink(root, "vendor", "old/pad")],
  ["a file that is a link", "./late.js", (root) => relink(root, "plugins/late.js", "../old/pad/index.js")],
  ["a link that gets its ending from Node", "./late", (root) => relink(root, "plugins/late.js", "../old/pad/index.js")],
  ["a folder that is a link", "./parts/part.cjs", (root) => relink(root, "plugins/parts", "../old/parts")],
  [
    "a folder with another main",
    "./parts",
    (root) => put(root, "plugins/parts/package.json", `{"main": "./other.cjs"}`),
  ],
  [
    "a folder of the project in an import of its package.json",
    "#part",
    (root) => relink(root, "plugins/parts", "../old/parts"),
  ],
  [
    "a package that the project calls itself",
    "own/index.js",
    (root) => {
      put(root, "package.json", `{"name": "own", "exports": {"./*": "./old/pad/*"}}`);
    },
  ],
  [
    "what an agent wrote, as a part of the whole repository",
    "../..",
    (root) => {
      link(root, "inner/index.js", "prloom/.local/worktrees/one/index.js");
    },
  ],
];

const put = (root: string, path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
const link = (root: string, path: string, to: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  symlinkSync(to, join(root, path));
};
const relink = (root: string, path: string, to: string): void => {
  rmSync(join(root, path), { recursive: true });
  link(root, path, to);
};

const OLD = `exports.word = "old";`;
const PLACES = {
  "package.json": `{"imports": {"#part": "./plugins/parts/part.cjs"}}`,
  "plugins/main.cjs": `module.exports = (name) => require(name).word;`,
  "plugins/late.js": `exports.word = "mine";`,
  "plugins/parts/part.cjs": `exports.word = "mine";`,
  "plugins/parts/index.js": `exports.word = "mine";`,
  "plugins/parts/other.cjs": OLD,
  "node_modules/pad/package.json": `{"main": "./index.js"}`,
  "node_modules/pad/index.js": `exports.word = "mine";`,
  "node_modules/pad/other.js": OLD,
  "vendor/index.js": `exports.word = "mine";`,
  "old/pad/index.js": OLD,
  "old/parts/part.cjs": OLD,
  "inner/plugins/deep/main.cjs": `module.exports = (name) => require(name).word;`,
  "inner/prloom/.local/worktrees/one/index.js": OLD,
};

for (const [what, name, bring] of DETOURS)
  test(`an old file is not reached by a new way: ${what}`, async () => {
    const { root } = repository(PLACES);
    link(root, "node_modules/linked", "../vendor");
    const act = await load(root, name === "../.." ? "./inner/plugins/deep/main.cjs" : "./plugins/main.cjs");
    sealAfter(root, "node_modules/linked");
    bring(root);
    assert.throws(
      () => act(name),
      (error: Refused) => error.code === "pin-changed" || assert.fail(error),
    );
    sealModules(undefined);
    assert.equal(await act(name), "old", "the next start takes it");
  });

test("what is loaded late by the way that it always had is loaded: packages, links, folders, endings, own imports", async () => {
  const { root } = repository({
    ...PLACES,
    "node_modules/@team/kit/package.json": `{"exports": {"./*": "./lib/*.js"}, "imports": {"#in": "./lib/in.js"}}`,
    "node_modules/@team/kit/lib/out.js": `exports.word = require("#in").word + require("../../../pad").word;`,
    "node_modules/@team/kit/lib/in.js": `exports.word = "in ";`,
  });
  link(root, "node_modules/linked", "../vendor");
  const act = await load(root, "./plugins/main.cjs");
  sealAfter(root, "node_modules/linked");
  // Beside them much may be new.
  put(root, "plugins/new.cjs", "");
  put(root, "node_modules/new/index.js", "");
  put(root, "package.json", `{"name": "other"}`);
  for (const name of ["pad", "linked", "./late", "./late.js", "./parts", "./parts/part.cjs"])
    assert.equal(await act(name), "mine", name);
  assert.equal(await act("@team/kit/out"), "in mine");
});
