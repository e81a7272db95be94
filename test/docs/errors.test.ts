import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ERROR_CODES } from "../../src/kernel/errors.ts";

test("docs/errors.md explains every code, and no other, in order", () => {
  const text = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
  const explained = [...text.matchAll(/^## (\S+)$/gm)].map(([, code]) => code);
  assert.deepEqual(explained, [...ERROR_CODES].sort());
});
