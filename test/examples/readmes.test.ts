import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { EXAMPLES } from "./installed.ts";

const examples = readdirSync(EXAMPLES).filter((name) => existsSync(join(EXAMPLES, name, "README.md")));

test("there are examples", () => {
  for (const name of [
    "kanban",
    "merge-command",
    "friday-policy",
    "plan-validator",
    "memory-marker",
    "deferred-retry",
  ]) {
    assert.ok(examples.includes(name), name);
  }
});

for (const example of examples) {
  const files = readdirSync(join(EXAMPLES, example));
  const read = (name: string): string => readFileSync(join(EXAMPLES, example, name), "utf8");

  test(`${example}: needs nothing of prloom's inside`, () => {
    for (const name of files.filter((file) => file.endsWith(".ts"))) {
      const code = read(name);
      for (const [, from = ""] of code.matchAll(/\bfrom "([^"]+)"/g)) {
        const isOwn = from.startsWith("./") && files.includes(from.slice(2));
        assert.ok(isOwn || from.startsWith("node:") || from === "prloom/plugin", `${name} imports ${from}`);
      }
      assert.doesNotMatch(code, /\.local|\.git\b/, name);
    }
  });

  test(`${example}: the README fits a screen, its links lead somewhere, and it has a test`, () => {
    const page = read("README.md");
    assert.ok(page.split("\n").length <= 45, "more than a screen");
    for (const [, link = ""] of page.matchAll(/\]\(([^)\s]+)\)/g)) {
      assert.ok(existsSync(join(EXAMPLES, example, link)), link);
    }
    assert.ok(existsSync(new URL(`./${example}.test.ts`, import.meta.url)));
  });
}
