import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { someOf } from "../../testing/sample.ts";
import { makeExtended } from "../fixtures/extended.ts";

const project = makeExtended();
after(() => project.remove());

const FILES: Readonly<Record<string, string>> = {
  "syntax.mjs": "export default () => ({ onEvent( });\n",
  "throws.mjs": 'throw new Error("no licence");\n',
  "imports.mjs": 'import "not-installed-anywhere";\nexport default () => ({ onEvent() {} });\n',
  "bare.mjs": "export const onEvent = () => {};\n",
  "triage.mjs": "export default () => ({ beforeTriage(events) {} });\n",
  "typo.mjs": "export default () => ({ onEvnet() {} });\n",
  "both.mjs": "export default () => ({ onEvent() {}, onStartup() {} });\n",
  "plan.mjs": "export default () => ({ onEvent() {} });\n",
  "factory.mjs": 'export default () => { throw new Error("config.token is missing"); };\n',
  "startup.mjs": 'export default () => ({ onStartup() { throw new Error("no board"); } });\n',
  "bridge.mjs": 'export default { name: "b", targets: ["board"], actions: () => ({ success: true }) };\n',
  "local.mjs": 'export default { name: "b", targets: ["local"], actions: () => ({ success: true }) };\n',
  "untargeted.mjs": 'export default { name: "b", actions: () => ({ success: true }) };\n',
  "types.ts": "export default (config: { name: string }) => ({ onStartup(): void {} });\n",
};
const folder = join(project.root, "prloom", "modules");
mkdirSync(folder);
for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);

const entry = (file: string, more: object = {}) => ({ module: `./prloom/modules/${file}`, ...more });
const KEYS = {
  plugins: {},
  globalPlugins: {},
  bridges: {},
  globalBridges: {},
  pluginOrder: [],
  globalPluginOrder: [],
  presets: {},
};
const plain = project.config();
project.plan("waits", ["x"]);

async function startWith(config: object) {
  project.config({ ...plain, ...KEYS, ...config });
  return project.work();
}

const REFUSED: readonly (readonly [what: string, config: object, says: readonly RegExp[]])[] = [
  [
    "a missing module",
    { plugins: { x: entry("nothing.mjs") } },
    [/plugins\.x/, /there is no file \.\/prloom\/modules\/nothing\.mjs/],
  ],
  ["a wrong ending", { plugins: { x: entry("plan.ts") } }, [/did you mean \.\/prloom\/modules\/plan\.mjs\?/]],
  ["a missing package", { plugins: { x: { module: "no-such-package" } } }, [/plugins\.x, module no-such-package/]],
  ["a path that leads out", { plugins: { x: { module: "./../x.mjs" } } }, [/outside the repository/]],
  [
    "a syntax error",
    { plugins: { x: entry("syntax.mjs") } },
    [/plugins\.x/, /SyntaxError|Unexpected token/, /syntax\.mjs/],
  ],
  [
    "a module that throws",
    { globalPlugins: { x: entry("throws.mjs") } },
    [/globalPlugins\.x/, /no licence/, /"enabled": false/],
  ],
  ["an import that is missing", { plugins: { x: entry("imports.mjs") } }, [/not-installed-anywhere/]],
  ["no default export", { plugins: { x: entry("bare.mjs") } }, [/default/, /hint: .*definePlugin/s]],
  [
    "beforeTriage",
    { plugins: { x: entry("triage.mjs") } },
    [/beforeTriage, which is gone/, /async onEvent\(event, ctx\)/],
  ],
  [
    "an unknown hook",
    { plugins: { x: entry("typo.mjs") } },
    [/there is no hook "onEvnet", did you mean "?onEvent"?|"onEvnet".*onEvent/, /hint: There are: onStartup/],
  ],
  [
    "only hooks of the other scope",
    { globalPlugins: { x: entry("plan.mjs") } },
    [/it has only onEvent/, /Move it to plugins/],
  ],
  ["a factory that throws", { plugins: { x: entry("factory.mjs") } }, [/config\.token is missing/]],
  [
    "onStartup that throws",
    { globalPlugins: { x: entry("startup.mjs") } },
    [/onStartup of the plugin "x" failed: .*no board.*\[plugin-failed\]/],
  ],
  [
    "a target claimed twice",
    { bridges: { left: entry("bridge.mjs") }, globalBridges: { right: entry("bridge.mjs") } },
    [/The target "board" is claimed twice/, /bridges\.left/, /globalBridges\.right/, /\[target-clash\]/],
  ],
  [
    "a target of prloom's own",
    { globalBridges: { mine: entry("local.mjs") } },
    [/"local" is claimed twice.*built-in.*globalBridges\.mine/],
  ],
  [
    "actions without targets",
    { bridges: { mine: entry("untargeted.mjs") } },
    [/bridges\.mine.*has `actions` but no `targets`/],
  ],
  [
    "a preset for global plugins",
    { presets: { p: { globalPlugins: { x: { enabled: false } } } } },
    [/globalPlugins/, /\[config-invalid\]/],
  ],
  [
    "an order with an unknown name",
    { plugins: { alpha: entry("plan.mjs") }, pluginOrder: ["alpah"] },
    [/pluginOrder/, /alpha/],
  ],
  [
    "one name under both keys",
    { plugins: { x: entry("both.mjs") }, globalPlugins: { x: entry("both.mjs") } },
    [/the same name as globalPlugins\.x/],
  ],
];

test("whatever is wrong with a plugin or a bridge stops the start, and is named with what to write instead", async () => {
  // That each is refused with these words is shown where modules are loaded and the config is read, without a start.
  for (const [what, config, says] of someOf(REFUSED, 5)) {
    const { code, stdout, stderr } = await startWith(config);
    assert.equal(code, 1, `${what}\n${stdout}${stderr}`);
    for (const pattern of says) assert.match(stderr, pattern, what);
    assert.match(stderr, /\n {2}hint: \S/, what);
    assert.doesNotMatch(stderr, /\n {4}at |Please report/, `${what} is not prloom's fault`);
  }
});

test("what is disabled is not even loaded; then everything starts, and nothing was lost", async () => {
  const { code, stdout, stderr } = await startWith({
    plugins: { off: entry("syntax.mjs", { enabled: false }), both: entry("both.mjs") },
    globalPlugins: { alsoBoth: entry("both.mjs"), typed: entry("types.ts", { config: { name: "x" } }) },
    bridges: { off: entry("untargeted.mjs", { enabled: false }), mine: entry("bridge.mjs") },
  });
  assert.equal(code, 0, stdout + stderr);
  assert.equal(project.record("waits").status, "review");
});
