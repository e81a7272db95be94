import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { loadBridges } from "../../src/bridges/load.ts";
import { buildRegistry } from "../../src/bridges/registry.ts";
import { PrloomError } from "../../src/kernel/errors.ts";
import { loadedBridge } from "./bridge-fixture.ts";

const repoRoot = mkdtempSync(join(tmpdir(), "prloom-bridges-"));
after(() => rmSync(repoRoot, { recursive: true, force: true }));
let files = 0;

function file(text: string, name = `bridges/bridge-${++files}.mjs`): string {
  mkdirSync(dirname(join(repoRoot, name)), { recursive: true });
  writeFileSync(join(repoRoot, name), text);
  return `./${name}`;
}

async function load(module: string, more: { config?: Record<string, string>; kind?: "global" | "plan" } = {}) {
  const { config = {}, kind = "global" } = more;
  const entries = [{ name: "board", module, config }];
  const [loaded] = await loadBridges({ repoRoot, kind, entries, factoryTimeoutMs: 50 });
  assert.ok(loaded);
  return loaded;
}

describe("loading", () => {
  it("takes a bridge, or a function that makes one, in TypeScript too", async () => {
    const plain = await load(file(`export default { name: "b", events: () => ({ events: [] }) };`));
    assert.equal(plain.name, "board");
    assert.equal(plain.kind, "global");
    const nameless = await load(file("export default { events: () => ({ events: [] }), names: 1 };"));
    assert.equal(nameless.name, "board");
    const typed = file(
      `import { defineBridge } from "prloom/plugin";
       export default defineBridge<{ url: string }>(async (config) => ({
         name: config.url, targets: ["board"], actions: () => ({ success: true as const }),
       }));`,
      "bridges/typed.ts",
    );
    const made = await load(typed, { config: { url: "x" }, kind: "plan" });
    assert.equal(made.bridge.name, "x");
    assert.deepEqual(made.config, { url: "x" });
    assert.ok(Object.isFrozen(made.config));
  });

  it("takes an instance of a class, whose methods are not its own keys", async () => {
    const { bridge } = await load(
      file(`class Board { name = "b"; targets = ["board"]; seen = 1; actions() { return { success: this.seen === 1 }; } }
            export default () => new Board();`),
    );
    assert.deepEqual(bridge.actions?.({} as never, {} as never), { success: true });
  });

  it("takes members of a bridge's own that look like ours", async () => {
    await load(file(`export default { name: "b", events() {}, options: {}, deliver() {}, delivery: 1 };`));
    await load(file(`export default { name: "b", events() {}, actions() {}, targets: ["x"], event: 1, action: 2 };`));
  });

  const bad: Record<string, [string, RegExp]> = {
    "a module that throws": [`throw new Error("bad start")`, /could not be loaded: bad start/],
    "a module that never loads": [
      `await new Promise((resolve) => setTimeout(resolve, 2 ** 30).unref()); export default {}`,
      /could not be loaded: it did not return within 0.05 s/,
    ],
    "a misspelt member": [
      `export default { name: "b", event() {} }`,
      /has `event` and no `events` \(did you mean events\?\)/,
    ],
    "a misspelt member beside a good one": [
      `export default { name: "b", events() {}, targets: ["x"], action() {} }`,
      /\(did you mean actions\?\)/,
    ],
    "a misspelt method of a class": [
      `export default new (class { name = "b"; targets = ["x"]; evnets() {} actoin() {} })()`,
      /\(did you mean events\?\)/,
    ],
    "a syntax error": [`export default {`, /could not be loaded: /],
    "no default export": [`export const bridge = {}`, /has no default export/],
    "a factory that throws": [`export default () => { throw new Error("no url") }`, /no url/],
    "a factory that never returns": [`export default () => new Promise(() => {})`, /did not return within 0.05 s/],
    "nothing made": [`export default () => undefined`, /gave nothing instead of a bridge/],
    "no bridge": [`export default 5`, /gave a number instead of a bridge/],
    "a name that is not a string": [`export default { name: 5, events() {} }`, /has `name` as a number/],
    "neither events nor actions": [`export default { name: "b" }`, /neither `events` nor `actions`/],
    "actions without targets": [`export default { name: "b", actions() {} }`, /has `actions` but no `targets`/],
    "empty targets": [`export default { name: "b", actions() {}, targets: [] }`, /has `actions` but no `targets`/],
    "targets without actions": [
      `export default { name: "b", events() {}, targets: ["x"] }`,
      /has `targets` but no `actions`/,
    ],
    "targets that are not a list": [`export default { name: "b", actions() {}, targets: "x" }`, /not a list of names/],
    "a target twice": [`export default { name: "b", actions() {}, targets: ["x", "x"] }`, /"x" twice/],
    "events that are not a function": [`export default { name: "b", events: [] }`, /has `events` as a object/],
  };
  for (const [what, [text, expected]] of Object.entries(bad)) {
    it(`says what is wrong: ${what}`, async () => {
      const module = file(text);
      await assert.rejects(load(module), (error) => {
        assert.ok(error instanceof PrloomError);
        assert.equal(error.code, "bridge-invalid");
        assert.match(error.message, expected);
        assert.ok(error.message.includes(`"board" (globalBridges.board, module ${module})`), error.message);
        assert.notEqual(error.hint, "");
        return true;
      });
    });
  }

  it("says what is wrong: a module that is not there, with the key of its scope", async () => {
    await assert.rejects(load("./nowhere.ts", { kind: "plan" }), {
      code: "bridge-invalid",
      message: /\(bridges\.board, module \.\/nowhere\.ts\) could not be loaded: .*nowhere/,
    });
    await assert.rejects(load("no-such-package"), { code: "bridge-invalid", message: /no-such-package/ });
  });
});

describe("the registry", () => {
  const actions = () => ({ success: true as const });

  it("finds bridges of both scopes by target", () => {
    const board = loadedBridge({ actions, targets: ["board", "card"] }, { name: "kanban", kind: "global" });
    const chat = loadedBridge({ actions }, { name: "chat" });
    const feed = loadedBridge({ events: () => ({ events: [] }) }, { name: "feed" });
    const registry = buildRegistry([board, chat, feed]);
    assert.equal(registry.byTarget("card"), board);
    assert.equal(registry.byTarget("chat"), chat);
    assert.equal(registry.byTarget("feed"), undefined);
    assert.deepEqual(registry.targets, ["board", "card", "chat"]);
    assert.deepEqual(registry.all, [board, chat, feed]);
  });

  it("does not start with a target that is claimed twice, and names both", () => {
    const one = loadedBridge({ actions, targets: ["board"] }, { name: "kanban", kind: "global" });
    const two = loadedBridge({ actions, targets: ["x", "board"] }, { name: "trello" });
    const three = loadedBridge({ actions, targets: ["human"] }, { name: "notify", kind: "builtin" });
    const four = loadedBridge({ actions, targets: ["human"] }, { name: "pager", kind: "global" });
    assert.throws(() => buildRegistry([one, two]), {
      code: "target-clash",
      message: /"board" .*"kanban" \(globalBridges\.kanban\) .*"trello" \(bridges\.trello\)/,
    });
    assert.throws(() => buildRegistry([three, four]), {
      message: /"human" .*built-in bridge "notify" .*"pager" \(globalBridges\.pager\)/,
    });
  });
});
