import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { loadConfig, parseConfig } from "../../src/config/load.ts";
import { checkConfig } from "../../src/config/problems/problems.ts";
import { PrloomError } from "../../src/kernel/errors.ts";
import { samples } from "../testing/sample.ts";

const MINIMAL = { agents: { echo: { command: "echo" } }, stages: { default: "echo" } };

/** The problems of MINIMAL with something laid over it. */
function problemsOf(over: Record<string, unknown>): string[] {
  const checked = checkConfig(JSON.stringify({ ...MINIMAL, ...over }, null, 2));
  return checked.ok ? [] : checked.problems.map(({ key, message }) => `${key}: ${message}`);
}

const mistakes: [over: Record<string, unknown>, problems: string[]][] = [
  [{ limits: { maxRuningAgents: 3 } }, ["limits.maxRuningAgents: unknown key, did you mean maxRunningAgents?"]],
  [{ Limits: {} }, ["Limits: unknown key, did you mean limits?"]],
  [{ zzz: 1 }, ["zzz: unknown key"]],
  [{ limits: { runTimeout: 7200 } }, ['limits.runTimeout: must be a string with a unit, like "2h"']],
  [
    { limits: { runTimeout: "2 hours" } },
    ['limits.runTimeout: must be a number with a unit (ms, s, m, h, d), like "2h"'],
  ],
  [
    { limits: { runTimeout: "2h", silenceTimeout: "30" } },
    ['limits.silenceTimeout: must be a number with a unit (ms, s, m, h, d), like "30m"'],
  ],
  [{ limits: { runTimeout: "0s" } }, ['limits.runTimeout: must be more than 0, like "2h"']],
  [{ limits: { runTimeout: "40d" } }, ["limits.runTimeout: must not be more than 24d"]],
  [{ limits: { maxOutput: "16mb" } }, ['limits.maxOutput: must be a number with a unit (B, KB, MB, GB), like "16MB"']],
  [{ limits: { attemptsPerTodo: 0 } }, ["limits.attemptsPerTodo: must be a whole number of 1 or more"]],
  [{ limits: { attemptsPerTodo: 1.5 } }, ["limits.attemptsPerTodo: must be a whole number of 1 or more"]],
  [{ bus: { retryMin: "10m", retryMax: "5m" } }, ["bus.retryMin: must not be more than bus.retryMax"]],
  [
    { authors: { bob: "owner" } },
    ['authors.bob: must be "none" or "read" or "triage" or "write" or "maintain" or "admin"'],
  ],
  [{ writeback: { plan: "no" } }, ["writeback.plan: must be true or false"]],
  [{ gates: { pr: "yes" } }, ["gates.pr: must be true or false"]],
  ...["../signers", "/etc/signers", "team/*", "./signers", "team//signers"].map(
    (signers): [Record<string, unknown>, string[]] => [
      { gates: { signers } },
      ["gates.signers: must be the path of a file below the repository, of plain letters"],
    ],
  ),
  [{ gates: { plan: "yes" } }, ["gates.plan: must be true or false"]],
  [{ gates: { remindAfter: 24 } }, ['gates.remindAfter: must be a string with a unit, like "24h"']],
  [{ webhooks: {}, server: {} }, ["webhooks: not available in this version", "server: not available in this version"]],
  [{ bus: { pollEvery: "99ms" } }, ["bus.pollEvery: must not be less than 100ms"]],
  [{ bus: { pollEvery: "0s" } }, ['bus.pollEvery: must be more than 0, like "30s"']],
  [{ bus: { hookTimeout: "30d" } }, ["bus.hookTimeout: must not be more than 24d"]],
  [{ forge: "github" }, ['forge: needs the key "github", which names the repository there']],
  [{ forge: "locl" }, ['forge: must be "local" or "github", did you mean local?']],
  [
    { stages: { default: "echo", reviewer: "eho" } },
    ['stages.reviewer: there is no agent called "eho", did you mean echo?'],
  ],
  [{ agents: { echo: { command: " " } } }, ["agents.echo.command: must not be empty"]],
  [
    { agents: { echo: { command: "x" }, "a b": { command: "x" } } },
    ["agents.a b: names have letters, digits, . _ and - only"],
  ],
  [{ stages: { default: "ecko" } }, ['stages.default: there is no agent called "ecko", did you mean echo?']],
  [
    { presets: { p: { stages: { worker: "nobody" } } } },
    ['presets.p.stages.worker: there is no agent called "nobody"'],
  ],
  [
    { presets: { p: { baseBranch: "x" } } },
    ["presets.p.baseBranch: presets cannot change this: it is for the whole repository"],
  ],
  [
    { presets: { p: { zzz: 1 } } },
    [
      "presets.p.zzz: unknown key, there are agents, stages, checks, review, limits, gates, plugins, pluginOrder, bridges",
    ],
  ],
  [{ presets: { p: { gates: { plan: false } } } }, ['presets.p.gates.plan: must be "true"']],
  [{ copyFiles: ["../secret"] }, ["copyFiles.0: must be a path below the repository, without .."]],
  [{ checks: "npm test" }, ["checks: must be a list of strings"]],
];

for (const [over, expected] of mistakes) {
  test(`refused: ${JSON.stringify(over)}`, () => assert.deepEqual(problemsOf(over), expected));
}

test("a file without agents and stages is told both", () => {
  const checked = checkConfig("{}");
  assert.deepEqual(checked.ok ? [] : checked.problems.map(({ key }) => key), ["agents", "stages"]);
});

test("all mistakes come at once, in the order of the file, with line and column", () => {
  const text = `{
  "agents": {"echo": {"command": ""}},
  "stages": {"default": "eco"},
  "limits": {
    "maxRuningAgents": 3,
    "runTimeout": 5,
    "runTimeout": "1h"
  }
}
`;
  assert.throws(
    () => parseConfig(text, "prloom/config.json"),
    (error) => {
      assert.ok(error instanceof PrloomError);
      assert.equal(error.code, "config-invalid");
      assert.equal(
        error.message,
        [
          "prloom/config.json has 4 mistakes:",
          "  prloom/config.json:2:23  agents.echo.command: must not be empty",
          '  prloom/config.json:3:14  stages.default: there is no agent called "eco", did you mean echo?',
          "  prloom/config.json:5:5  limits.maxRuningAgents: unknown key, did you mean maxRunningAgents?",
          "  prloom/config.json:7:5  limits.runTimeout: is given twice",
        ].join("\n"),
      );
      assert.equal(error.hint, "Fix them in prloom/config.json and run `prloom doctor`.");
      return true;
    },
  );
});

test("maxDeletions may be a number of files", () => {
  const limitsOf = (maxDeletions: unknown) => {
    const checked = checkConfig(JSON.stringify({ ...MINIMAL, limits: { maxDeletions } }));
    return checked.ok ? checked.config.limits.maxDeletions : checked.problems.map(({ message }) => message);
  };
  assert.deepEqual(limitsOf(50), { files: 50, percent: 100 });
  assert.deepEqual(limitsOf({ percent: 5 }), { files: 200, percent: 5 });
  assert.deepEqual(limitsOf({ file: 5 }), ["unknown key, did you mean files?"]);
  assert.deepEqual(limitsOf("many"), ['must be a number of files, or an object such as {"files": 200, "percent": 20}']);
});

test("a comma too many is one mistake", () => {
  for (const text of ['{"a": {"b": 1},,"c": 2}', '{\n "a": {"b": [1,,2]}\n}', '{"a": {"b": 1,}}']) {
    const checked = checkConfig(text);
    assert.ok(!checked.ok);
    assert.deepEqual(
      [checked.problems.length, checked.problems[0]?.message.split("; ")[1]],
      [1, "is there a comma too many?"],
    );
  }
});

const notJson: [text: string, where: string, message: RegExp][] = [
  ['{"agents": {},}', "1:15", /comma too many/],
  ['{\n  // why\n  "stages": {"default": "x"}\n}', "2:3", /comments are not allowed/],
  ['{"agents": {} "stages": {}}', "1:15", /a comma is missing/],
  ["", "1:1", /value is expected/],
  ["[]", "1:1", /must be an object/],
  ["null", "1:1", /must be an object/],
  ['{"agents": {}', "1:14", /closing \}/],
  ["{'a': 1}", "1:2", /./],
  ['{"__proto__": {"polluted": true}}', "1:2", /unknown key/],
];

for (const [text, where, message] of notJson) {
  test(`not a config: ${JSON.stringify(text)}`, () => {
    const checked = checkConfig(text);
    assert.ok(!checked.ok);
    const found = checked.problems.find(({ line, column }) => `${line}:${column}` === where);
    assert.match(found?.message ?? JSON.stringify(checked.problems), message);
  });
}

test("whatever the text, there is a config or a list of problems, and what passes is strict JSON", () => {
  const key = fc.constantFrom(
    ..."agents stages limits default echo command presets plugins pluginOrder bridges notify channels triggers".split(
      " ",
    ),
    ..."budget price session review __proto__ runTimeout x".split(" "),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>("echo", "1h", "", 1, null, true),
      fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
      fc.array(tie("tree"), { maxLength: 2 }),
    ),
  }));
  const cut = fc
    .tuple(
      tree.map((value) => JSON.stringify(value)),
      fc.nat(200),
    )
    .map(([text, length]) => text.slice(0, length));
  fc.assert(
    fc.property(
      fc.oneof(
        cut,
        fc.string(),
        tree.map((value) => JSON.stringify({ ...MINIMAL, presets: value })),
        fc.dictionary(key, tree).map((value) => JSON.stringify({ ...MINIMAL, ...value })),
      ),
      (text) => {
        const checked = checkConfig(text);
        if (checked.ok) JSON.parse(text);
        else
          assert.ok(
            checked.problems.length > 0 && checked.problems.every(({ line, column }) => line > 0 && column > 0),
          );
      },
    ),
    { numRuns: samples(500) },
  );
});

test("a missing file, an unreadable one, and one with a byte order mark", (t) => {
  const root = mkdtempSync(join(tmpdir(), "prloom-config-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  assert.throws(() => loadConfig(root), { code: "config-missing", hint: /prloom init/ });
  mkdirSync(join(root, "prloom/config.json"), { recursive: true });
  assert.throws(() => loadConfig(root), { code: "config-invalid", message: /cannot be read/ });
  rmSync(join(root, "prloom/config.json"), { recursive: true });
  writeFileSync(join(root, "prloom/config.json"), `\ufeff${JSON.stringify(MINIMAL)}`);
  assert.deepEqual(loadConfig(root).stages.default, ["echo"]);
});

test("a text that is nested deeper than any stack is a mistake, not a fault", () => {
  for (const text of [
    "[".repeat(60_000),
    `{"agents":${'{"a":'.repeat(60_000)}1${"}".repeat(60_001)}`,
    `// "\n${"[".repeat(60_000)}`,
  ]) {
    const checked = checkConfig(text);
    assert.ok(!checked.ok);
    assert.deepEqual(checked.problems, [{ line: 1, column: 1, key: "", message: "it is nested too deep" }]);
  }
});

test("a config with more than anybody writes is refused before its mistakes are looked for", () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`);
  const names = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => `n${index}`));
  for (const text of [`{${keys}}`, `{"plugins":{${keys}},"pluginOrder":${names}}`]) {
    const checked = checkConfig(text);
    assert.ok(!checked.ok);
    const message = "it has more than 2000 keys and values";
    assert.deepEqual(checked.problems, [{ line: 1, column: 1, key: "", message }]);
  }
});

test("of very many mistakes the first are told", () => {
  for (const text of [`{${",\n".repeat(100_000)}`, `{${'"k":1,\n'.repeat(1000)}"k":1}`]) {
    const checked = checkConfig(text);
    assert.ok(!checked.ok);
    assert.ok(checked.problems.length <= 70, `${checked.problems.length} problems`);
    assert.equal(checked.problems[0]?.line, 1);
  }
});
