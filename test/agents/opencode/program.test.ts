import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { openCodeProgram } from "../../../src/agents/opencode/program.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-opencode-program-"));
after(() => rmSync(root, { recursive: true, force: true }));

let homes = 0;
function homeWith(...files: readonly string[]): string {
  homes += 1;
  const home = join(root, `home-${homes}`);
  for (const path of files) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), "s3cret");
  }
  return home;
}

test("a login is found wherever it can be, and never told", () => {
  const table: readonly (readonly [string, string, Record<string, string>])[] = [
    ["unknown", homeWith(), {}],
    ["unknown", homeWith(".config/opencode/opencode.json"), {}],
    ["yes", homeWith(".local/share/opencode/auth.json"), {}],
    ["yes", homeWith(), { OPENROUTER_API_KEY: "s3cret" }],
    ["yes", homeWith(), { XDG_DATA_HOME: join(homeWith(".local/share/opencode/auth.json"), ".local", "share") }],
    ["unknown", homeWith(".local/share/opencode/auth.json"), { XDG_DATA_HOME: join(root, "elsewhere") }],
  ];
  for (const [state, home, env] of table) {
    const login = openCodeProgram.loginOf({ home, env });
    assert.equal(login.state, state, JSON.stringify(env));
    assert(!login.how.includes("s3cret"));
  }
});

test("its files are taken from where variables have moved them, to where it looks without those", () => {
  const env = { XDG_CONFIG_HOME: "/c", XDG_DATA_HOME: "/d", XDG_CACHE_HOME: "/k" };
  const items = openCodeProgram
    .homeItems({ home: "/home/u", env })
    .map(({ from, to, kind }) => `${kind} ${from} ${to}`);
  assert.deepEqual(items, [
    "config /c/opencode .config/opencode",
    "cache /k/opencode .cache/opencode",
    "login /d/opencode/auth.json .local/share/opencode/auth.json",
    "login /d/opencode/mcp-auth.json .local/share/opencode/mcp-auth.json",
  ]);
});

test("a person goes on with the conversation", () => {
  assert.deepEqual(openCodeProgram.openArgs({ sessionId: "s", model: "m" }), ["--session", "s", "--model", "m"]);
  assert.deepEqual(openCodeProgram.openArgs({}), []);
});
