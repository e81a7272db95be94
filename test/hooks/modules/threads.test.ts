import assert from "node:assert/strict";
import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { importModule } from "../../../src/hooks/modules/import-module.ts";
import { sealModules } from "../../../src/hooks/modules/pinned-modules.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "prloom-threads-")));
const started: Thread[] = [];
after(async () => {
  for (const thread of started) await thread.terminate();
  sealModules(undefined);
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function sealNow(): void {
  const { ctimeMs } = lstatSync(join(root, "last"));
  do {
    write("pin", "");
    sealModules(statSync(join(root, "pin")).ctimeMs);
  } while (statSync(join(root, "pin")).ctimeMs <= ctimeMs);
}

const MAIN = `
  import { Worker } from "node:worker_threads";
  export const start = (file) => new Worker(new URL(file, import.meta.url));
  export const heard = (worker) => new Promise((resolve) => {
    worker.once("message", resolve).once("error", (error) => resolve(error.message)).once("exit", () => resolve("ended"));
  });
  export default { start, heard };`;
const THREAD = `
  import { parentPort } from "node:worker_threads";
  import { word } from "pad";
  parentPort.once("message", async () => parentPort.postMessage(await import("late").then((m) => m.word, (e) => e.message)));
  parentPort.postMessage(word);`;

interface Thread {
  postMessage(value: unknown): void;
  terminate(): Promise<unknown>;
}

interface Main {
  start(file: string): Thread;
  heard(worker: Thread): Promise<string>;
}

test("a thread that a module starts loads nothing that is newer than the start, nor by a newer way", async () => {
  write("plugins/main.mjs", MAIN);
  for (const name of ["thread", "other", "swapped"]) write(`plugins/${name}.mjs`, THREAD);
  for (const name of ["pad", "late"]) {
    write(`node_modules/${name}/package.json`, `{"exports": "./index.mjs"}`);
    write(`node_modules/${name}/index.mjs`, `export const word = "mine";`);
  }
  write("last", "");
  const main = (await importModule({ repoRoot: root, specifier: "./plugins/main.mjs" })) as Main;
  const { heard } = main;
  const start = (file: string): Thread => {
    const thread = main.start(file);
    started.push(thread);
    return thread;
  };
  const before = start("./thread.mjs");
  assert.equal(await heard(before), "mine");
  sealNow();
  const thread = start("./thread.mjs");
  assert.equal(await heard(thread), "mine", "what is old");
  write("node_modules/late/index.mjs", `export const word = "evil";`);
  before.postMessage("load");
  assert.match(
    await heard(before),
    /changed after the dispatcher was started/,
    "in a thread that is older than the seal",
  );
  write("plugins/other.mjs", `import "node:worker_threads"; console.log("evil");`);
  assert.match(await heard(start("./other.mjs")), /changed after the dispatcher was started/);
  rmSync(join(root, "plugins/swapped.mjs"));
  symlinkSync("thread.mjs", join(root, "plugins/swapped.mjs"));
  assert.throws(() => start("./swapped.mjs"), /changed after the dispatcher was started/);
  write("plugins/node_modules/pad/index.js", `exports.word = "evil";`);
  assert.match(await heard(start("./thread.mjs")), /changed after the dispatcher was started/);
});

test("hooks that Node would load in a thread of its own are not registered after the start", async () => {
  write("hooks/none.mjs", "export const resolve = (name, context, next) => next(name, context);");
  const text = `import { register } from "node:module"; export default () => register("./none.mjs", import.meta.url);`;
  write("hooks/register.mjs", text);
  write("last", "");
  sealModules(undefined);
  const registerIt = (await importModule({ repoRoot: root, specifier: "./hooks/register.mjs" })) as () => void;
  sealNow();
  assert.throws(registerIt, /cannot be registered/);
  sealModules(undefined);
  registerIt();
});
