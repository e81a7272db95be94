import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { sessionArgs } from "../dialogue/session-id.ts";
import type { AgentProgram, Login, UserPlace } from "../program.ts";
import { renewedTokens } from "../sandbox/login-renewal.ts";

/** Codex keeps everything in one folder, which a variable may move. */
function codexHome({ home, env }: UserPlace): string {
  return env.CODEX_HOME ? resolve(env.CODEX_HOME) : join(home, ".codex");
}

function loginOf(where: UserPlace): Login {
  if (where.env.CODEX_API_KEY) return { state: "yes", how: "CODEX_API_KEY is set" };
  const folder = codexHome(where);
  if (existsSync(join(folder, "auth.json"))) return { state: "yes", how: `${join(folder, "auth.json")} exists` };
  // It may name a provider with a key of its own, or the system's keyring as the place of the login.
  if (existsSync(join(folder, "config.toml"))) return { state: "unknown", how: `${folder} has a config.toml only` };
  return { state: "no", how: `there is no ${join(folder, "auth.json")}, and CODEX_API_KEY is not set` };
}

const TOKENS = [["tokens", "id_token"], ["tokens", "access_token"], ["tokens", "refresh_token"], ["last_refresh"]];

/** What prloom knows about OpenAI's Codex. */
export const codexProgram: AgentProgram = {
  title: "Codex",
  command: "codex",
  versionArgs: ["--version"],
  least: "0.166.0",
  instructionFiles: ["AGENTS.md"],
  install: "npm install -g @openai/codex",
  login: "codex login",
  // Codex itself takes no other key from the environment; a provider in its config.toml usually names the second.
  placeVariables: ["CODEX_HOME"],
  variables: ["CODEX_API_KEY", "OPENAI_API_KEY"],
  keeps: [".codex/sessions"],
  homeItems: (where) => {
    const folder = codexHome(where);
    return [
      { from: join(folder, "config.toml"), to: ".codex/config.toml", kind: "config" },
      { from: join(folder, "AGENTS.md"), to: ".codex/AGENTS.md", kind: "config" },
      { from: join(folder, "prompts"), to: ".codex/prompts", kind: "config" },
      { from: join(folder, "auth.json"), to: ".codex/auth.json", kind: "login" },
    ];
  },
  loginOf,
  renewedLogin: (before, after) => renewedTokens(before, after, TOKENS),
  openArgs: ({ sessionId, model }) => [
    ...sessionArgs("resume", sessionId),
    ...(model === undefined ? [] : ["--model", model]),
  ],
};
