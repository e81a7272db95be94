import assert from "node:assert/strict";
import { test } from "node:test";
import { geminiProgram } from "../../../src/agents/acp/program.ts";
import { claudeProgram } from "../../../src/agents/claude/program.ts";
import { codexProgram } from "../../../src/agents/codex/program.ts";
import { openCodeProgram } from "../../../src/agents/opencode/program.ts";
import type { AgentProgram } from "../../../src/agents/program.ts";

const OLD = "old-token-0123456789";
const NEW = "new-token-0123456789";

const CLAUDE = {
  claudeAiOauth: { accessToken: OLD, refreshToken: OLD, expiresAt: 1000, scopes: ["a", "b"], subscriptionType: "max" },
  mcpOAuth: { "server|1": { serverUrl: "https://mcp.example", accessToken: OLD } },
};
const CODEX = {
  OPENAI_API_KEY: null,
  tokens: { id_token: OLD, access_token: OLD, refresh_token: OLD, account_id: "acc-1" },
  last_refresh: "2026-11-15T10:00:00.123456789Z",
};
const OPENCODE = {
  anthropic: { type: "oauth", access: OLD, refresh: OLD, expires: 1000 },
  openrouter: { type: "api", key: OLD },
  "https://corp.example": { type: "wellknown", key: "TOKEN", token: OLD },
};
const MCP = { docs: { serverUrl: "https://docs.example", tokens: { accessToken: OLD, expiresAt: 1000.5 } } };
const GEMINI = {
  access_token: OLD,
  refresh_token: OLD,
  scope: "s",
  token_type: "Bearer",
  id_token: OLD,
  expiry_date: 1,
};

type Row = readonly [what: string, program: AgentProgram, before: unknown, after: unknown];

function renew({ renewedLogin }: AgentProgram, before: unknown, after: unknown): unknown {
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const renewed = renewedLogin?.(text(before), text(after));
  return renewed === undefined ? undefined : JSON.parse(renewed);
}

const oauth = { ...CLAUDE.claudeAiOauth, accessToken: NEW, refreshToken: NEW, expiresAt: 2000 };
const tokens = { ...CODEX.tokens, id_token: NEW, access_token: NEW };
const anthropic = { ...OPENCODE.anthropic, access: NEW, refresh: NEW, expires: 2000 };

const RENEWED: readonly Row[] = [
  ["Claude Code", claudeProgram, CLAUDE, { ...CLAUDE, claudeAiOauth: oauth }],
  ["Codex", codexProgram, CODEX, { ...CODEX, tokens, last_refresh: "2026-11-15T11:00:00Z" }],
  ["OpenCode", openCodeProgram, OPENCODE, { ...OPENCODE, anthropic }],
  [
    "OpenCode, an MCP server",
    openCodeProgram,
    MCP,
    { docs: { ...MCP.docs, tokens: { accessToken: NEW, expiresAt: 2000.25 } } },
  ],
  ["Gemini", geminiProgram, GEMINI, { ...GEMINI, access_token: NEW, expiry_date: 2 }],
];
for (const [what, program, before, after] of RENEWED) {
  test(`a login that was renewed is taken back: ${what}`, () => assert.deepEqual(renew(program, before, after), after));
}

const opencode = (entry: object) => ({ ...OPENCODE, anthropic: { ...OPENCODE.anthropic, ...entry } });
const wellknown = { "http://127.0.0.1:1": { type: "wellknown", key: "X", token: NEW } };

const HOSTILE: readonly Row[] = [
  ["nothing changed", claudeProgram, CLAUDE, CLAUDE],
  ["an entry whose address a program fetches commands from", openCodeProgram, OPENCODE, { ...OPENCODE, ...wellknown }],
  ["nothing but such an entry", openCodeProgram, OPENCODE, wellknown],
  ["a login that becomes such an entry", openCodeProgram, OPENCODE, opencode({ type: "wellknown", access: NEW })],
  ["a plain key", openCodeProgram, OPENCODE, { ...OPENCODE, openrouter: { type: "api", key: NEW } }],
  ["tokens for a plain key", openCodeProgram, { o: { type: "api", access: OLD } }, { o: { type: "api", access: NEW } }],
  [
    "the token of a well-known address",
    openCodeProgram,
    OPENCODE,
    { ...OPENCODE, "https://corp.example": { type: "wellknown", key: "TOKEN", token: NEW } },
  ],
  [
    "the address of a server",
    openCodeProgram,
    MCP,
    { docs: { serverUrl: "https://evil.example", tokens: MCP.docs.tokens } },
  ],
  ["an account", codexProgram, CODEX, { ...CODEX, tokens: { ...tokens, account_id: "acc-2" } }],
  ["a key where there was none", codexProgram, CODEX, { ...CODEX, OPENAI_API_KEY: NEW }],
  ["a time that is text", claudeProgram, CLAUDE, { ...CLAUDE, claudeAiOauth: { ...oauth, expiresAt: "2000" } }],
  ["an earlier time", claudeProgram, CLAUDE, { ...CLAUDE, claudeAiOauth: { ...oauth, expiresAt: 999 } }],
  ["no time at all", claudeProgram, CLAUDE, { ...CLAUDE, claudeAiOauth: { ...oauth, expiresAt: 1e300 } }],
  ["a date before", codexProgram, CODEX, { ...CODEX, last_refresh: "2026-11-15T09:00:00Z" }],
  ["a date that is something else", codexProgram, CODEX, { ...CODEX, last_refresh: NEW }],
  [
    "a token with lines",
    claudeProgram,
    CLAUDE,
    { ...CLAUDE, claudeAiOauth: { ...oauth, accessToken: `${NEW}\r\nX: y` } },
  ],
  ["a token with blanks", codexProgram, CODEX, { ...CODEX, tokens: { ...tokens, access_token: `${NEW} ; rm` } }],
  [
    "a token that is an object",
    claudeProgram,
    CLAUDE,
    { ...CLAUDE, claudeAiOauth: { ...oauth, accessToken: { a: NEW } } },
  ],
  ["an empty token", claudeProgram, CLAUDE, { ...CLAUDE, claudeAiOauth: { ...oauth, accessToken: "" } }],
  [
    "a token without end",
    claudeProgram,
    CLAUDE,
    { ...CLAUDE, claudeAiOauth: { ...oauth, accessToken: "x".repeat(20_000) } },
  ],
  ["a token that is gone", codexProgram, CODEX, { ...CODEX, tokens: { access_token: NEW } }],
  ["scopes", claudeProgram, CLAUDE, { ...CLAUDE, claudeAiOauth: { ...oauth, scopes: ["a", "b", "admin"] } }],
  ["tokens of MCP servers", claudeProgram, CLAUDE, { ...CLAUDE, mcpOAuth: { "server|1": { accessToken: NEW } } }],
  ["a list", claudeProgram, CLAUDE, [CLAUDE]],
  ["no JSON", claudeProgram, CLAUDE, "echo"],
  ["nothing", claudeProgram, CLAUDE, ""],
  ["a file without end", claudeProgram, CLAUDE, { ...CLAUDE, claudeAiOauth: oauth, x: "x".repeat(300_000) }],
  ["a user's file that is not JSON", claudeProgram, "key", { ...CLAUDE, claudeAiOauth: oauth }],
  ["the kind of token", geminiProgram, GEMINI, { ...GEMINI, access_token: NEW, token_type: "Basic" }],
];
for (const [what, program, before, after] of HOSTILE) {
  test(`is not taken back: ${what}`, () => assert.equal(renew(program, before, after), undefined));
}

test("beside a renewed token nothing else comes over", () => {
  const after = {
    ...wellknown,
    anthropic: { ...anthropic, enterpriseUrl: "https://evil.example" },
    openrouter: { type: "api", key: NEW },
    "https://corp.example": { type: "wellknown", key: "PATH", token: NEW },
  };
  assert.deepEqual(renew(openCodeProgram, OPENCODE, after), { ...OPENCODE, anthropic });
});

test("a key that is there twice cannot mean one thing to us and another to the program", () => {
  const twice = `{"claudeAiOauth":{"accessToken":"evil one","x":1},"claudeAiOauth":${JSON.stringify(oauth)}}`;
  const text = claudeProgram.renewedLogin?.(JSON.stringify(CLAUDE), twice);
  assert.equal(text, JSON.stringify({ ...CLAUDE, claudeAiOauth: oauth }));
});

test("names that mean something to the language are names", () => {
  const before = '{"__proto__":{"type":"oauth","access":"old-token"}}';
  const after = '{"__proto__":{"type":"oauth","access":"new-token"},"constructor":{"access":"new-token"}}';
  assert.equal(openCodeProgram.renewedLogin?.(before, after), before.replace("old", "new"));
  assert.equal(openCodeProgram.renewedLogin?.('{"a":{"access":"old-token"}}', after), undefined);
});

test("the file is written as it was", () => {
  const pretty = `${JSON.stringify(GEMINI, undefined, 2)}\n`;
  const renewed = geminiProgram.renewedLogin?.(pretty, JSON.stringify({ ...GEMINI, access_token: NEW }));
  assert.equal(renewed, pretty.replace(OLD, NEW));
});

test("a login that is nested deeper than a stack reaches renews nothing, and breaks nothing", () => {
  const deep = `${"[".repeat(60_000)}${"]".repeat(60_000)}`;
  const after = JSON.stringify(CLAUDE).replace(JSON.stringify(OLD), deep);
  assert.equal(renew(claudeProgram, CLAUDE, after), undefined);
});
