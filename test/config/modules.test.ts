import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { parseConfig } from "../../src/config/load.ts";
import { allPlanModules, configForPlan } from "../../src/config/presets.ts";
import { checkConfig } from "../../src/config/problems/problems.ts";

const MINIMAL = { agents: { echo: { command: "echo" } }, stages: { default: "echo" } };
const configOf = (over: Record<string, unknown>) => parseConfig(JSON.stringify({ ...MINIMAL, ...over }), "x");
const namesOf = (entries: readonly { name: string }[]) => entries.map(({ name }) => name);
const plugin = (module: string, over: Record<string, unknown> = {}) => ({ module: `./${module}.ts`, ...over });

function problemsOf(over: Record<string, unknown>): string[] {
  const checked = checkConfig(JSON.stringify({ ...MINIMAL, ...over }, null, 2));
  return checked.ok ? [] : checked.problems.map(({ key, message }) => `${key}: ${message}`);
}

test("entries are taken over with their config; what is off is not there", () => {
  const config = configOf({
    plugins: { a: plugin("a", { config: { deep: [1, { x: null }] } }), off: plugin("off", { enabled: false }) },
    globalPlugins: { g: { module: "some-package", enabled: true } },
    bridges: { b: plugin("b", { pollEvery: "100ms" }) },
    globalBridges: { board: plugin("board") },
  });
  assert.deepEqual(config.plugins, [{ name: "a", module: "./a.ts", config: { deep: [1, { x: null }] } }]);
  assert.deepEqual(config.globalPlugins, [{ name: "g", module: "some-package", config: {} }]);
  assert.deepEqual(config.bridges, [{ name: "b", module: "./b.ts", config: {}, pollEveryMs: 100 }]);
  assert.deepEqual(config.globalBridges, [{ name: "board", module: "./board.ts", config: {} }]);
});

test("the order is that of the list, then that of the file", () => {
  const plugins = { c: plugin("c"), a: plugin("a", { enabled: false }), b: plugin("b"), d: plugin("d") };
  assert.deepEqual(namesOf(configOf({ plugins }).plugins), ["c", "b", "d"]);
  assert.deepEqual(namesOf(configOf({ plugins, pluginOrder: ["d", "a", "b"] }).plugins), ["d", "b", "c"]);
  const config = configOf({ globalPlugins: plugins, globalPluginOrder: ["b"] });
  assert.deepEqual(namesOf(config.globalPlugins), ["b", "c", "d"]);
});

const layered = configOf({
  plugins: {
    first: plugin("first", { config: { n: 1 } }),
    second: plugin("second"),
    off: plugin("off", { enabled: false }),
  },
  pluginOrder: ["second"],
  bridges: { ci: plugin("ci", { pollEvery: "5s", config: { url: "x" } }) },
  presets: {
    plain: {},
    without: { plugins: { first: { enabled: false } }, bridges: { ci: { enabled: false } } },
    changed: {
      plugins: { first: { config: { n: 2 } }, off: { enabled: true }, own: plugin("own") },
      bridges: { ci: { pollEvery: "1s" }, extra: plugin("extra") },
    },
    replaced: { plugins: { first: plugin("other") }, pluginOrder: ["first", "second"] },
  },
});

function planConfig(preset?: string) {
  const outcome = configForPlan(layered, { preset });
  assert.ok(outcome.ok);
  const { plugins, bridges } = outcome.config;
  return { plugins, bridges };
}

test("a preset switches, changes, replaces and adds; all else is the file's", () => {
  const second = { name: "second", module: "./second.ts", config: {} };
  const first = { name: "first", module: "./first.ts", config: { n: 1 } };
  const ci = { name: "ci", module: "./ci.ts", config: { url: "x" }, pollEveryMs: 5000 };
  assert.deepEqual(planConfig(), { plugins: [second, first], bridges: [ci] });
  assert.deepEqual(planConfig("plain"), planConfig());
  assert.deepEqual(planConfig("without"), { plugins: [second], bridges: [] });
  assert.deepEqual(planConfig("changed"), {
    plugins: [
      second,
      { ...first, config: { n: 2 } },
      { name: "off", module: "./off.ts", config: {} },
      { name: "own", module: "./own.ts", config: {} },
    ],
    bridges: [
      { ...ci, pollEveryMs: 1000 },
      { name: "extra", module: "./extra.ts", config: {} },
    ],
  });
  assert.deepEqual(planConfig("replaced").plugins, [{ name: "first", module: "./other.ts", config: {} }, second]);
});

test("all modules of the file and its presets, each once", () => {
  const { plugins, bridges } = allPlanModules(layered);
  assert.deepEqual(
    plugins.map(({ name, module, config }) => `${name} ${module} ${JSON.stringify(config)}`),
    [
      "second ./second.ts {}",
      'first ./first.ts {"n":1}',
      'first ./first.ts {"n":2}',
      "off ./off.ts {}",
      "own ./own.ts {}",
      "first ./other.ts {}",
    ],
  );
  assert.deepEqual(
    bridges.map(({ name, pollEveryMs }) => [name, pollEveryMs]),
    [
      ["ci", 5000],
      ["ci", 1000],
      ["extra", undefined],
    ],
  );
  for (const preset of [undefined, ...Object.keys(layered.presets)]) {
    const wanted = planConfig(preset);
    const missing = [
      ...wanted.plugins.filter((one) => !plugins.some((other) => isDeepStrictEqual(one, other))),
      ...wanted.bridges.filter((one) => !bridges.some((other) => isDeepStrictEqual(one, other))),
    ];
    assert.deepEqual(missing, [], `of ${preset}`);
  }
});

const NOT_GLOBAL = "presets cannot change this: it is for the whole repository";
const NAMES = "names begin with a letter and have letters, digits, _ and - only, 64 at most";
const mistakes: [over: Record<string, unknown>, problems: string[]][] = [
  [{ plugins: { a: {} } }, ["plugins.a.module: is missing: must be a string"]],
  [{ plugins: { a: "./a.ts" } }, ["plugins.a: must be an object: { … }"]],
  [{ plugins: [] }, ["plugins: must be an object: { … }"]],
  [{ plugins: { a: plugin("a", { enabled: "no" }) } }, ["plugins.a.enabled: must be true or false"]],
  [{ plugins: { a: plugin("a", { config: [] }) } }, ["plugins.a.config: must be an object: { … }"]],
  [
    { plugins: { a: plugin("a", { pollEvery: "1s" }) } },
    ["plugins.a.pollEvery: unknown key, there are module, enabled, config"],
  ],
  [{ plugins: { a: plugin("a", { modul: "x" }) } }, ["plugins.a.modul: unknown key, did you mean module?"]],
  [{ plugins: { "1": plugin("a") } }, [`plugins.1: ${NAMES}`]],
  [{ plugins: { "a/b": plugin("a") } }, [`plugins.a/b: ${NAMES}`]],
  [{ globalBridges: { "a.actions": plugin("a") } }, [`globalBridges.a.actions: ${NAMES}`]],
  [
    { plugins: { merge: plugin("a") }, pluginOrder: ["mergee", "merge", "merge"] },
    [
      'pluginOrder.0: there is no plugin called "mergee", did you mean merge?',
      'pluginOrder.2: "merge" is in the list twice',
    ],
  ],
  [
    { plugins: { a: plugin("a") }, globalPluginOrder: ["a"] },
    ['globalPluginOrder.0: there is no global plugin called "a"'],
  ],
  [{ pluginOrder: "a" }, ["pluginOrder: must be a list of names of plugins"]],
  [
    { plugins: { a: plugin("a") }, globalPlugins: { a: plugin("a") } },
    ["plugins.a: has the same name as globalPlugins.a; give it another"],
  ],
  [{ bridges: { Ci: plugin("a"), ci: plugin("b") } }, ["bridges.ci: has the same name as bridges.Ci; give it another"]],
  [
    { globalBridges: { a: plugin("a") }, presets: { p: { bridges: { a: plugin("a") } } } },
    ["presets.p.bridges.a: has the same name as globalBridges.a; give it another"],
  ],
  [{ bridges: { ci: {} } }, ['bridges.ci: needs a module: prloom has no bridge of its own called "ci"']],
  [
    { bridges: { github: { enabled: true } } },
    ["bridges.github: is a bridge of prloom's own; give yours another name"],
  ],
  [
    { globalBridges: { notify: plugin("a") } },
    ["globalBridges.notify: is a bridge of prloom's own; give yours another name"],
  ],
  [
    { bridges: { local: {}, "prloom-core": plugin("a") } },
    [
      "bridges.local: is a bridge of prloom's own; give yours another name",
      "bridges.prloom-core: is a bridge of prloom's own; give yours another name",
    ],
  ],
  [{ bridges: { ci: plugin("a", { pollEvery: "10ms" }) } }, ["bridges.ci.pollEvery: must not be less than 100ms"]],
  [
    { plugins: { memory: plugin("a") }, presets: { p: { plugins: { memry: { enabled: false } } } } },
    ['presets.p.plugins.memry: needs a module: plugins has no "memry" to change, did you mean memory?'],
  ],
  [
    { presets: { p: { bridges: { github: {} } } } },
    ["presets.p.bridges.github: is a bridge of prloom's own; give yours another name"],
  ],
  [
    { presets: { p: { bridges: { notify: { enabled: false } } } } },
    ["presets.p.bridges.notify: is a bridge of prloom's own; give yours another name"],
  ],
  [{ presets: { p: { pluginOrder: ["x"] } } }, ['presets.p.pluginOrder.0: there is no plugin called "x"']],
  [
    { globalPlugins: { g: plugin("g") }, presets: { p: { globalPlugins: { g: { enabled: false } } } } },
    [`presets.p.globalPlugins: ${NOT_GLOBAL}`],
  ],
  [
    { presets: { p: { globalBridges: {}, globalPluginOrder: [], triggers: [], notify: {} } } },
    ["globalBridges", "globalPluginOrder", "triggers", "notify"].map((key) => `presets.p.${key}: ${NOT_GLOBAL}`),
  ],
];

for (const [over, expected] of mistakes) {
  test(`refused: ${JSON.stringify(over)}`, () => assert.deepEqual(problemsOf(over), expected));
}

test("a mistake in an entry of a preset is shown where it is", () => {
  const text = `{
  "agents": {"echo": {"command": "echo"}},
  "stages": {"default": "echo"},
  "plugins": {"a": {"module": "./a.ts"}},
  "pluginOrder": ["a",
    "b"],
  "presets": {"p": {
    "globalPlugins": {}
  }}
}`;
  const checked = checkConfig(text);
  assert.deepEqual(checked.ok ? [] : checked.problems.map(({ line, column, key }) => [line, column, key]), [
    [6, 5, "pluginOrder.1"],
    [8, 5, "presets.p.globalPlugins"],
  ]);
});
