import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { capture } from "../../../src/dispatcher/settings/pinning.ts";
import { PrloomError } from "../../../src/kernel/errors.ts";

/** What a branch can put into its config and beside it to keep the one thread of the dispatcher busy. */
const HEAVY: readonly [what: string, check: (root: string) => string, message: RegExp][] = [
  [
    "a line of very many words",
    () => "/a ".repeat(100_000),
    /^The commands of prloom\/config\.json have more than 64 KB\.$/,
  ],
  ["a very large program", (root) => join(root, "big"), /^big, which prloom\/config\.json names, cannot be read\.$/],
];

for (const [what, check, message] of HEAVY)
  test(`a config is refused before it holds the dispatcher: ${what}`, (t) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "prloom-pinning-")));
    t.after(() => rmSync(root, { recursive: true }));
    mkdirSync(join(root, "prloom"));
    writeFileSync(join(root, "big"), "");
    // It has no blocks, and a length that would take minutes to read.
    truncateSync(join(root, "big"), 2 ** 40);
    const config = { agents: { any: { adapter: "command", command: "true" } }, stages: { default: "any" } };
    writeFileSync(join(root, "prloom/config.json"), JSON.stringify({ ...config, checks: [check(root)] }));
    assert.throws(
      () => capture({ root, path: process.env.PATH }),
      (error) => error instanceof PrloomError && error.code === "config-invalid" && message.test(error.message),
    );
  });
