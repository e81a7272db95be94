import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { claudeProgram } from "../../../src/agents/claude/program.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-claude-program-"));
after(() => rmSync(root, { recursive: true, force: true }));

let homes = 0;
function homeWith(files: Readonly<Record<string, string>>): string {
  homes += 1;
  const home = join(root, `home-${homes}`);
  mkdirSync(join(home, ".claude"), { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(home, path), text);
  return home;
}

test("a login is found wherever it can be, and never told", () => {
  const secret = "s3cret";
  const settings = (value: object): Record<string, string> => ({ ".claude/settings.json": JSON.stringify(value) });
  const table: readonly (readonly [string, Record<string, string>, Record<string, string>])[] = [
    ["no", {}, {}],
    ["yes", {}, { ANTHROPIC_API_KEY: secret }],
    ["yes", {}, { CLAUDE_CODE_OAUTH_TOKEN: secret }],
    ["yes", { ".claude/.credentials.json": secret }, {}],
    ["yes", { ".claude.json": JSON.stringify({ primaryApiKey: secret }) }, {}],
    ["yes", settings({ env: { ANTHROPIC_AUTH_TOKEN: secret } }), {}],
    ["unknown", settings({ apiKeyHelper: secret }), {}],
    ["unknown", { ".claude.json": JSON.stringify({ oauthAccount: { name: secret } }) }, {}],
    ["unknown", {}, { CLAUDE_CODE_USE_BEDROCK: "1" }],
    ["no", { ".claude.json": "{ not json", ".claude/settings.json": "[]" }, { ANTHROPIC_API_KEY: "" }],
  ];
  for (const [state, files, env] of table) {
    const login = claudeProgram.loginOf({ home: homeWith(files), env });
    assert.equal(login.state, state, JSON.stringify([files, env]));
    assert(!login.how.includes(secret));
  }
});

test("its files are taken from where a variable has moved them, to where it looks without that", () => {
  const items = claudeProgram.homeItems({ home: "/home/u", env: { CLAUDE_CONFIG_DIR: "/etc/claude" } });
  const places = new Map(items.map(({ from, to, kind }) => [to, `${kind} ${from}`]));
  assert.equal(places.get(".claude/settings.json"), "config /etc/claude/settings.json");
  assert.equal(places.get(".claude.json"), "config /etc/claude/.claude.json");
  assert.equal(places.get(".claude/.credentials.json"), "login /etc/claude/.credentials.json");
  const usual = claudeProgram.homeItems({ home: "/home/u", env: {} });
  assert(usual.some(({ from, to }) => from === "/home/u/.claude.json" && to === ".claude.json"));
  const moved = claudeProgram.loginOf({
    home: homeWith({}),
    env: { CLAUDE_CONFIG_DIR: homeWith({ ".credentials.json": "x" }) },
  });
  assert.equal(moved.state, "yes");
});

test("a person goes on with the conversation", () => {
  assert.deepEqual(claudeProgram.openArgs({ sessionId: "s", model: "m" }), ["--resume", "s", "--model", "m"]);
  assert.deepEqual(claudeProgram.openArgs({}), []);
});
