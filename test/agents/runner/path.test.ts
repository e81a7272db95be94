import assert from "node:assert/strict";
import { test } from "node:test";
import { absolutePath, agentEnvironment } from "../../../src/agents/environment.ts";

const PATHS: readonly [path: string, kept: string | undefined][] = [
  ["/usr/bin:/bin", "/usr/bin:/bin"],
  ["./bin:/usr/bin:node_modules/.bin:../x", "/usr/bin"],
  [":/usr/bin::/bin:", "/usr/bin:/bin"],
  [".", undefined],
  ["", undefined],
];

for (const [path, kept] of PATHS) {
  test(`programs are looked for in folders that are the same everywhere: "${path}"`, () => {
    assert.equal(absolutePath(path), kept);
    assert.equal(agentEnvironment({ PATH: path }, { vars: {}, extra: {} }).PATH, kept);
    assert.equal(agentEnvironment({ PATH: "/sbin" }, { vars: {}, extra: { PATH: path } }).PATH, kept);
  });
}

test("a PATH with nothing in it is none at all: an empty one means the folder that one is in", () => {
  assert.equal("PATH" in agentEnvironment({ PATH: "bin" }, { vars: {}, extra: {} }), false);
});
