import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { it } from "node:test";
import type { PluginEntry } from "../../../src/config/config.ts";
import { importModule } from "../../../src/hooks/modules/import-module.ts";
import { type LoadedPlugin, loadPlugins, type PluginKind } from "../../../src/hooks/modules/load-plugins.ts";
import { inTemporary } from "../fixture.ts";

function write(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}

interface Wanted {
  readonly module: string;
  readonly kind?: PluginKind;
  readonly config?: PluginEntry["config"];
  readonly timeoutMs?: number;
}

async function load(
  repoRoot: string,
  { module, kind = "plan", config = {}, timeoutMs }: Wanted,
): Promise<LoadedPlugin> {
  const entries = [{ name: "mine", module, config }];
  const [plugin] = await loadPlugins({ repoRoot, kind, entries, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
  assert.ok(plugin);
  return plugin;
}

const PLUGIN = "export default (config) => ({ onEvent: () => config.word });";
const call = (plugin: LoadedPlugin): unknown => (plugin.hooks.onEvent as unknown as () => unknown)();

it("loads TypeScript and JavaScript from the repository, and packages", () =>
  inTemporary(async (dir) => {
    const typed = `import { definePlugin, actionMarker } from "prloom/plugin";
      import type { PluginEvent } from "prloom/plugin";
      interface Config { readonly word: string }
      export default definePlugin<Config>((config) => ({
        onEvent: (event: PluginEvent) => config.word + actionMarker({ id: "a" }),
      }));`;
    write(dir, {
      "plugins/typed.ts": typed,
      "plugins/module.mjs": PLUGIN,
      "plugins/common.cjs": "module.exports = (config) => ({ onEvent: () => config.word });",
      "plugins/compiled.cjs":
        'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = (c) => ({ onEvent: () => c.word });',
      "node_modules/only-import/package.json": '{"name": "only-import", "exports": {"import": "./i.mjs"}}',
      "node_modules/only-import/i.mjs": `import { definePlugin } from "prloom/plugin"; ${PLUGIN}`,
      "node_modules/@kind/plain/package.json": '{"name": "@kind/plain", "main": "m.cjs"}',
      "node_modules/@kind/plain/m.cjs":
        'require("prloom/plugin"); module.exports = (c) => ({ onEvent: () => c.word });',
    });
    const config = { word: "hi" };
    assert.equal(call(await load(dir, { module: "./plugins/typed.ts", config })), "hi<!-- prloom:a -->");
    for (const module of [
      "./plugins/module.mjs",
      "./plugins/common.cjs",
      "./plugins/compiled.cjs",
      "only-import",
      "@kind/plain",
    ]) {
      assert.equal(call(await load(dir, { module, config })), "hi", module);
    }
  }));

it("takes paths from the root of the repository when it is started in a subdirectory, through links too", () =>
  inTemporary(async (dir) => {
    write(dir, { "repo/plugins/a.mjs": PLUGIN, "repo/sub/x": "" });
    symlinkSync(join(dir, "repo"), join(dir, "link"));
    const script = `
      import { loadPlugins } from ${JSON.stringify(new URL("../../../src/hooks/modules/load-plugins.ts", import.meta.url).href)};
      const [plugin] = await loadPlugins({ repoRoot: ${JSON.stringify(join(dir, "link"))}, kind: "plan",
        entries: [{ name: "a", module: "./plugins/a.mjs", config: { word: "here" } }] });
      console.log(plugin.hooks.onEvent());`;
    const options = { cwd: join(dir, "repo", "sub"), encoding: "utf8" } as const;
    const child = spawnSync(process.execPath, ["--input-type=module", "-e", script], options);
    assert.equal(child.stdout, "here\n", child.stderr);
  }));

it("imports a module once, and makes a plugin of it for each key, with the hooks of that key", () =>
  inTemporary(async (dir) => {
    const text = `globalThis.imports = (globalThis.imports ?? 0) + 1;
      export default () => ({ onEvent() {}, afterTodo() {}, onGlobalEvent() {}, beforeRoute() {} });`;
    write(dir, { "both.mjs": text });
    const plan = await load(dir, { module: "./both.mjs" });
    const global = await load(dir, { module: "./both.mjs", kind: "global" });
    assert.deepEqual([plan.kind, Object.keys(plan.hooks)], ["plan", ["onEvent", "afterTodo"]]);
    assert.deepEqual([global.kind, Object.keys(global.hooks)], ["global", ["onGlobalEvent", "beforeRoute"]]);
    assert.equal((globalThis as { imports?: number }).imports, 1);
  }));

it("gives the function a frozen copy of its config, and waits for it", () =>
  inTemporary(async (dir) => {
    const text = `export default async (config) => {
      await null;
      try { config.list.push(2); } catch { return { onEvent: () => "frozen " + Object.isFrozen(config) }; }
      return { onEvent: () => "open" };
    };`;
    write(dir, { "a.mjs": text });
    const config = { list: [1] };
    assert.equal(call(await load(dir, { module: "./a.mjs", config })), "frozen true");
    assert.deepEqual(config, { list: [1] });
  }));

it("calls the hooks of an object of a class with their own `this`", () =>
  inTemporary(async (dir) => {
    const text = `class Plugin { constructor(word) { this.word = word; } onEvent() { return this.word; } helper() {} }
      export default (config) => new Plugin(config.word);`;
    write(dir, { "a.mjs": text });
    assert.equal(call(await load(dir, { module: "./a.mjs", config: { word: "mine" } })), "mine");
  }));

const REFUSED: [name: string, files: Record<string, string>, wanted: Wanted, problem: RegExp, hint: RegExp][] = [
  ["no file", {}, { module: "./gone.ts" }, /there is no file \.\/gone\.ts/, /"enabled": false under plugins\.mine/],
  ["ending", { "p/a.ts": PLUGIN }, { module: "./p/a" }, /did you mean \.\/p\/a\.ts\?/, /enabled/],
  ["wrong ending", { "p/a.ts": PLUGIN }, { module: "./p/a.js" }, /did you mean \.\/p\/a\.ts\?/, /enabled/],
  [
    "folder",
    { "p/index.ts": PLUGIN },
    { module: "./p" },
    /is a folder; name the file in it, like \.\/p\/index\.ts/,
    /enabled/,
  ],
  ["outside", {}, { module: "../x.ts" }, /\.\.\/x\.ts lies outside the repository/, /enabled/],
  ["outside by a way round", {}, { module: "./a/../../x.ts" }, /lies outside the repository/, /enabled/],
  ["absolute", {}, { module: "/etc/passwd" }, /lies outside the repository/, /enabled/],
  [
    "a scheme",
    {},
    { module: "data:text/javascript,1" },
    /neither a path that starts with \.\/ nor the name of a package/,
    /enabled/,
  ],
  ["no package", {}, { module: "not-installed" }, /Cannot find package 'not-installed'/, /enabled/],
  ["throws", { "a.mjs": 'throw new Error("at import");' }, { module: "./a.mjs" }, /at import/, /enabled/],
  ["syntax", { "a.mjs": "export default (" }, { module: "./a.mjs" }, /cannot be used: /, /enabled/],
  ["its own import", { "a.mjs": 'import "./b.mjs";' }, { module: "./a.mjs" }, /b\.mjs/, /enabled/],
  [
    "no default",
    { "a.mjs": "export const x = 1;" },
    { module: "./a.mjs" },
    /it has no default export/,
    /export default definePlugin/,
  ],
  [
    "an object",
    { "a.mjs": "export default { onEvent() {} };" },
    { module: "./a.mjs" },
    /its default export is an object/,
    /export default definePlugin/,
  ],
  [
    "factory throws",
    { "a.mjs": 'export default () => { throw new Error("bad config"); };' },
    { module: "./a.mjs" },
    /its function threw: bad config/,
    /enabled/,
  ],
  [
    "returns nothing",
    { "a.mjs": "export default () => {};" },
    { module: "./a.mjs" },
    /its function returned undefined/,
    /export default definePlugin/,
  ],
  [
    "returns a list",
    { "a.mjs": "export default () => [];" },
    { module: "./a.mjs" },
    /its function returned a list/,
    /definePlugin/,
  ],
  [
    "no function",
    { "a.mjs": "export default () => ({ onEvent: 5 });" },
    { module: "./a.mjs" },
    /its onEvent is a number, not a function/,
    /onEvent: /,
  ],
  [
    "misspelt",
    { "a.mjs": "export default () => ({ onEvnt() {} });" },
    { module: "./a.mjs" },
    /there is no hook "onEvnt", did you mean onEvent/,
    /There are: onStartup, /,
  ],
  [
    "unknown beside a good one",
    { "a.mjs": "export default () => ({ onEvent() {}, whatever() {} });" },
    { module: "./a.mjs" },
    /there is no hook "whatever"/,
    /There are/,
  ],
  [
    "empty",
    { "a.mjs": "export default () => ({});" },
    { module: "./a.mjs" },
    /it has no hooks/,
    /onEvent, afterDesign/,
  ],
  [
    "other kind",
    { "a.mjs": "export default () => ({ onEvent() {} });" },
    { module: "./a.mjs", kind: "global" },
    /has only onEvent/,
    /Move it to plugins/,
  ],
  [
    "removed",
    { "a.mjs": "export default () => ({ beforeTriage: (plan) => plan, onEvent() {} });" },
    { module: "./a.mjs" },
    /beforeTriage, which is gone/,
    /async onEvent\(event, ctx\) \{/,
  ],
  [
    "never returns",
    { "a.mjs": "export default () => new Promise(() => {});" },
    { module: "./a.mjs", timeoutMs: 20 },
    /did not return within 0\.02 s/,
    /enabled/,
  ],
  [
    "never imports",
    { "a.mjs": "await new Promise(() => {});" },
    { module: "./a.mjs", timeoutMs: 20 },
    /did not return within 0\.02 s/,
    /enabled/,
  ],
  [
    "TypeScript in a package",
    { "node_modules/typed/package.json": '{"name": "typed", "main": "i.ts"}', "node_modules/typed/i.ts": PLUGIN },
    { module: "typed" },
    /node_modules/,
    /enabled/,
  ],
];

for (const [name, files, wanted, problem, hint] of REFUSED) {
  it(`stops at a plugin that cannot be used, and says what to write: ${name}`, () =>
    inTemporary(async (dir) => {
      write(dir, files);
      const key = wanted.kind === "global" ? "globalPlugins" : "plugins";
      await assert.rejects(load(dir, wanted), (error: Error & { code: string; hint: string }) => {
        assert.equal(error.code, "plugin-invalid");
        assert.ok(
          error.message.startsWith(`The plugin "mine" (${key}.mine, module ${wanted.module}) cannot be used: `),
        );
        assert.match(error.message, problem);
        assert.match(error.hint, hint);
        return true;
      });
    }));
}

it("ignores hooks of the other kind when one fits", () =>
  inTemporary(async (dir) => {
    write(dir, { "a.mjs": "export default () => ({ onEvent: undefined, onStartup() {}, afterTodo() {} });" });
    assert.deepEqual(Object.keys((await load(dir, { module: "./a.mjs" })).hooks), ["afterTodo"]);
  }));

it("gives bridges their module's default export as it is", () =>
  inTemporary(async (dir) => {
    write(dir, { "b.mjs": 'export default { name: "b" };', "none.mjs": "export const a = 1;" });
    assert.deepEqual(await importModule({ repoRoot: dir, specifier: "./b.mjs" }), { name: "b" });
    assert.equal(await importModule({ repoRoot: dir, specifier: "./none.mjs" }), undefined);
  }));

it("reads no device that a branch has put in the place of a module", { timeout: 30_000 }, () =>
  inTemporary(async (dir) => {
    write(dir, { "a.mjs": `import "./endless.mjs"; ${PLUGIN}` });
    symlinkSync("/dev/zero", join(dir, "endless.mjs"));
    await assert.rejects(load(dir, { module: "./a.mjs" }), /cannot be used: \/dev\/zero is not a regular file/);
    write(dir, { "scope/b.ts": PLUGIN.replace("config", "config: any") });
    symlinkSync("/dev/zero", join(dir, "package.json"));
    await assert.rejects(
      load(dir, { module: "./scope/b.ts" }),
      /cannot be used: \S+package\.json is not a regular file/,
    );
    rmSync(join(dir, "package.json"));
    for (const [name, device] of [
      ["one", "/dev/zero"],
      ["@two/deep", "/dev/zero"],
      ["three", "/proc/kmsg"],
    ] as const) {
      write(dir, { [`node_modules/${name}/index.js`]: "", "scope/c.mjs": `import "${name}/index.js"; ${PLUGIN}` });
      symlinkSync(device, join(dir, "node_modules", name, "package.json"));
      await assert.rejects(
        load(dir, { module: "./scope/c.mjs" }),
        /cannot be used: \S+package\.json is not a regular file/,
      );
    }
  }),
);
