import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { claudeProgram } from "../claude/program.ts";
import { codexProgram } from "../codex/program.ts";
import { sessionArgs } from "../dialogue/session-id.ts";
import { openCodeProgram } from "../opencode/program.ts";
import type { AgentProgram, HomeItem, Login, UserPlace } from "../program.ts";
import { renewedTokens } from "../sandbox/login-renewal.ts";

const GEMINI_KEYS = ["GEMINI_API_KEY", "GOOGLE_API_KEY"] as const;
const GEMINI_LOGIN = "oauth_creds.json";
const GEMINI_TOKENS = [["access_token"], ["refresh_token"], ["id_token"], ["expiry_date"]];

function geminiItems({ home }: UserPlace): HomeItem[] {
  const item = (name: string, kind: HomeItem["kind"]): HomeItem => {
    return { from: join(home, ".gemini", name), to: `.gemini/${name}`, kind };
  };
  // Not which folders the user trusts: that is prloom's to say.
  return [
    item("settings.json", "config"),
    item("GEMINI.md", "config"),
    item(".env", "config"),
    item("installation_id", "config"),
    item(GEMINI_LOGIN, "login"),
    item("google_accounts.json", "login"),
  ];
}

function geminiLogin({ home, env }: UserPlace): Login {
  const key = GEMINI_KEYS.find((name) => env[name]);
  if (key !== undefined) return { state: "yes", how: `${key} is set` };
  const login = join(home, ".gemini", GEMINI_LOGIN);
  if (existsSync(login)) return { state: "yes", how: `${login} exists` };
  if (env.GOOGLE_GENAI_USE_VERTEXAI) return { state: "unknown", how: "Vertex AI has a login of its own" };
  // It may hold the key, or the login may be in the system's keyring.
  const settings = ["settings.json", ".env"]
    .map((name) => join(home, ".gemini", name))
    .find((path) => existsSync(path));
  if (settings !== undefined) return { state: "unknown", how: `there is ${settings}, and no ${login}` };
  return { state: "no", how: `there is no ${login}, and neither ${GEMINI_KEYS.join(" nor ")} is set` };
}

export const geminiProgram: AgentProgram = {
  title: "Gemini CLI",
  command: "gemini",
  versionArgs: ["--version"],
  least: "0.61.0",
  instructionFiles: ["GEMINI.md", "AGENTS.md"],
  install: "npm install -g @google/gemini-cli",
  login: "gemini",
  variables: [
    ...GEMINI_KEYS,
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_VERTEX_BASE_URL",
    "GEMINI_MODEL",
  ],
  // With the notes of which folder is whose.
  keeps: [
    ".gemini/projects.json",
    ".gemini/tmp/*/.project_root",
    ".gemini/history/*/.project_root",
    ".gemini/tmp/*/chats",
  ],
  homeItems: geminiItems,
  loginOf: geminiLogin,
  renewedLogin: (before, after) => renewedTokens(before, after, GEMINI_TOKENS),
  openArgs: ({ sessionId, model }) => [
    ...sessionArgs("--resume", sessionId),
    ...(model === undefined ? [] : ["--model", model]),
  ],
};

/** A program around another: it uses the login and settings of that, and has no interface of its own. */
function around(inner: AgentProgram, own: { readonly command: string; readonly least: string }): AgentProgram {
  return {
    ...inner,
    ...own,
    title: `${inner.title} over ACP`,
    install: `npm install -g @agentclientprotocol/${own.command}`,
    openArgs: () => [],
  };
}

const PROGRAMS: Readonly<Record<string, AgentProgram>> = {
  gemini: geminiProgram,
  opencode: openCodeProgram,
  "claude-agent-acp": around(claudeProgram, { command: "claude-agent-acp", least: "0.99.0" }),
  "codex-acp": around(codexProgram, { command: "codex-acp", least: "2.6.0" }),
};

/** What prloom knows about a program that speaks ACP; nothing about others. */
export function acpProgram(spec: { command: string; args?: readonly string[] | undefined }): AgentProgram | undefined {
  const name = basename(spec.command);
  return Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
}
