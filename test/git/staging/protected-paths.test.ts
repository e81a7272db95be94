import assert from "node:assert/strict";
import { test } from "node:test";
import { isGitsOwn, isProtected } from "../../../src/git/staging/protected-paths.ts";

const latin1 = (text: string) => Buffer.from(text).toString("latin1");

test("settings are protected by every name that leads to them on some disk", () => {
  const names = [
    "prloom/config.json",
    "PRLOOM/x",
    "prloom./x",
    "prl\u200coom/x",
    ".claude /x",
    ".cur\u017for/mcp.json",
  ];
  for (const name of [...names, "opencode.j\u017fon", ".mcp.json."])
    assert.equal(isProtected(latin1(name)), true, name);
  for (const name of ["prloom.md", "src/prloom/x", ".claudes/x", "opencode.json5"])
    assert.equal(isProtected(latin1(name)), false, name);
});

test("and git's own folder likewise", () => {
  for (const name of [".git/x", "a/.GIT/x", ".g\u200cit/x", "a/git~1/x", ".git::$INDEX_ALLOCATION/x", ".git./x"])
    assert.equal(isGitsOwn(latin1(name)), true, name);
  for (const name of [".gitignore", "a/.github/x", "git/x"]) assert.equal(isGitsOwn(latin1(name)), false, name);
});
