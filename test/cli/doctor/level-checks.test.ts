import assert from "node:assert/strict";
import { test } from "node:test";
import { checkHostVersion, checkLevels } from "../../../src/cli/doctor/level-checks.ts";
import { parseConfig } from "../../../src/config/load.ts";

const agents = {
  open: { adapter: "opencode" },
  bare: { adapter: "opencode", sandbox: "none" },
  codex: { adapter: "codex" },
  other: { adapter: "command", command: "x", sandbox: "none" },
  strict: { adapter: "codex", sandbox: "bwrap" },
};
const config = parseConfig(JSON.stringify({ agents, stages: { default: "open" } }), "config.json");
const levels = (machine: "sandbox" | "none") =>
  checkLevels(config, machine).map(({ name, text }) => `${name}: ${text.split(":")[0]}`);

test("the level of each agent is told, with and without a sandbox", () => {
  const told = (list: readonly string[]) => Object.keys(agents).map((name, at) => `level of ${name}: ${list[at]}`);
  assert.deepEqual(levels("sandbox"), told(["policy+sandbox", "policy", "sandbox", "none", "sandbox"]));
  assert.deepEqual(levels("none"), told(["policy", "policy", "none", "none", "refused"]));
});

test("a governed program of another series than the one that was tried is named", () => {
  const facts = (version: string) => ({ title: "OpenCode", version, least: "1.18.33" });
  const host = { name: "open", adapter: "opencode" } as const;
  assert.deepEqual(checkHostVersion(host, facts("1.18.40")), []);
  const [found] = checkHostVersion(host, facts("2.0.1"));
  assert.deepEqual([found?.state, found?.name], ["warn", "rules in open"]);
  assert.match(found?.text ?? "", /tried with OpenCode 1\.18, and this is 2\.0\.1/);
  assert.deepEqual(checkHostVersion({ name: "codex", adapter: "codex" }, facts("2.0.1")), []);
});
