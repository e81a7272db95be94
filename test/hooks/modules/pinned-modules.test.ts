import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
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
  // The file system's clock ticks every few milliseconds; what is as old as the pin counts as changed.
  const { ctimeMs } = statSync(join(root, "node_modules/swapped/index.js"));
  do sealNow(root);
  while (statSync(join(root, "pin")).ctimeMs <= ctimeMs);
  for (const path of ["changed.mjs", "node_modules/swapped/index.js"]) write(path, `export const word = "evil";`);
  assert.equal(await act("./kept.mjs"), "kept");
  assert.equal(await act("kept"), "kept");
  for (const name of ["./changed.mjs", "swapped"]) {
    await assert.rejects(act(name), (error: Error & { code: string }) => {
      assert.equal(error.code, "pin-changed");
      assert.match(error.message, /changed after the dispatcher was started\. `prloom stop`, then `prloom start`/);
      return true;
    });
  }
  sealModules(undefined);
  assert.equal(await act("./changed.mjs"), "evil", "the next start takes it");
});
