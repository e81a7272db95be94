import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { acpEnvironment, acpInvocation, acpPrompt, acpSessionMeta } from "../../../src/agents/acp/invocation.ts";
import { acpProgram } from "../../../src/agents/acp/program.ts";

const dir = mkdtempSync(join(tmpdir(), "prloom-acp-"));
after(() => rmSync(dir, { recursive: true, force: true }));

describe("programs that speak ACP", () => {
  const place = { cwd: "/w", env: {}, projectSettings: false };

  test("are started as they want it; what the config says goes first", () => {
    assert.deepEqual(acpInvocation({ command: "/opt/bin/gemini" }), { program: "/opt/bin/gemini", args: ["--acp"] });
    assert.deepEqual(acpInvocation({ command: "opencode" }), { program: "opencode", args: ["acp"] });
    assert.deepEqual(acpInvocation({ command: "gemini", args: ["--x"] }), { program: "gemini", args: ["--x"] });
    assert.deepEqual(acpInvocation({ command: "other" }), { program: "other", args: [] });
  });

  test("leave the repository's settings alone unless these are allowed", () => {
    const gemini = (projectSettings: boolean) => acpEnvironment("gemini", { ...place, projectSettings });
    assert.deepEqual(gemini(false), { GEMINI_CLI_TRUST_WORKSPACE: "false" });
    assert.deepEqual(gemini(true), { GEMINI_CLI_TRUST_WORKSPACE: "true" });
    assert.equal(acpEnvironment("opencode", place).OPENCODE_DISABLE_PROJECT_CONFIG, "1");
    const config = JSON.parse(
      acpEnvironment("codex-acp", { ...place, env: { CODEX_CONFIG: '{"a":1}' } }).CODEX_CONFIG!,
    );
    assert.deepEqual([config.a, config.projects], [1, { "/w": { trust_level: "untrusted" } }]);
    assert.deepEqual([config.skills, config.project_doc_max_bytes], [{ include_instructions: false }, 0]);
    const sources = { claudeCode: { options: { settingSources: ["user"] } } };
    assert.deepEqual(acpSessionMeta("claude-agent-acp", place), sources);
    assert.deepEqual([acpEnvironment("other", place), acpSessionMeta("other", place)], [{}, undefined]);
  });

  test("get the instructions that they would leave out with these", () => {
    const instructions = { name: "AGENTS.md", text: "Always whistle.\n", file: "/base/a.md" };
    const prompt = (command: string, more = {}): string =>
      acpPrompt(command, { ...place, instructions, ...more }, "Do it.");
    for (const command of ["gemini", "codex-acp", "claude-agent-acp"]) {
      assert.match(prompt(command), /AGENTS\.md:\n\nAlways whistle\.\n\n----\n\nDo it\.$/);
      assert.equal(prompt(command, { projectSettings: true }), "Do it.");
      assert.equal(prompt(command, { instructions: undefined }), "Do it.");
      assert(acpProgram({ command })?.instructionFiles?.includes("AGENTS.md"), command);
    }
    assert.deepEqual([prompt("opencode"), prompt("other")], ["Do it.", "Do it."]);
    const config = JSON.parse(acpEnvironment("opencode", { ...place, instructions }).OPENCODE_CONFIG_CONTENT ?? "");
    assert.deepEqual(config.instructions, ["/base/a.md"]);
  });

  test("are known by their name, with the login of what is inside", () => {
    const home = join(dir, "home");
    mkdirSync(join(home, ".gemini"), { recursive: true });
    const gemini = acpProgram({ command: "/opt/bin/gemini" });
    const login = (env: Record<string, string> = {}) => gemini?.loginOf({ home, env }).state;
    assert.deepEqual([login(), login({ GEMINI_API_KEY: "k" })], ["no", "yes"]);
    writeFileSync(join(home, ".gemini", "settings.json"), "{}");
    assert.equal(login(), "unknown");
    writeFileSync(join(home, ".gemini", "oauth_creds.json"), "{}");
    assert.equal(login(), "yes");
    assert.equal(acpProgram({ command: "codex-acp" })?.login, "codex login");
    assert.equal(acpProgram({ command: "claude-agent-acp" })?.title, "Claude Code over ACP");
    assert.equal(acpProgram({ command: "toString" }), undefined);
  });
});
