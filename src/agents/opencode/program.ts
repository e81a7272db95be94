import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { sessionArgs } from "../dialogue/session-id.ts";
import type { AgentProgram, HomeItem, Login, UserPlace } from "../program.ts";
import { renewedTokens } from "../sandbox/login-renewal.ts";
import { openCodeEnvironment } from "./invocation.ts";
import { KEPT_DATABASE, renewDatabase } from "./kept-database.ts";

/**
 * Where OpenCode looks for a repository's settings, relative to the worktree and to every folder above it up to the root
 * of the repository. It has a switch against them, but loads the plugins that these name all the same: only what hides
 * the files keeps their code from running.
 */
export const OPENCODE_PROJECT_SETTINGS = [".opencode", "opencode.json", "opencode.jsonc"] as const;

/** Keys of the providers that OpenCode finds by itself in the environment. */
const KEYS = [
  "OPENCODE_API_KEY",
  "ANTHROPIC_API_KEY",
  "OPENAI_API_KEY",
  "OPENROUTER_API_KEY",
  "GEMINI_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "AI_GATEWAY_API_KEY",
  "AZURE_API_KEY",
  "CEREBRAS_API_KEY",
  "DEEPSEEK_API_KEY",
  "GROQ_API_KEY",
  "MISTRAL_API_KEY",
  "MOONSHOT_API_KEY",
  "XAI_API_KEY",
  "ZHIPU_API_KEY",
  "AWS_BEARER_TOKEN_BEDROCK",
] as const;

const CONFIG_FILES = ["opencode.json", "opencode.jsonc", "config.json"] as const;

function placesOf({ home, env }: UserPlace): Readonly<Record<"config" | "data" | "cache", string>> {
  const config = env.XDG_CONFIG_HOME ? resolve(env.XDG_CONFIG_HOME) : join(home, ".config");
  const data = env.XDG_DATA_HOME ? resolve(env.XDG_DATA_HOME) : join(home, ".local", "share");
  const cache = env.XDG_CACHE_HOME ? resolve(env.XDG_CACHE_HOME) : join(home, ".cache");
  return { config: join(config, "opencode"), data: join(data, "opencode"), cache: join(cache, "opencode") };
}

/** Of providers, and of MCP servers, which have a file of their own. */
const TOKENS = [
  ...["access", "refresh", "expires"].map((key) => ["*", key]),
  ...["accessToken", "refreshToken", "expiresAt"].map((key) => ["*", "tokens", key]),
];

function homeItems(where: UserPlace): HomeItem[] {
  const { config, data, cache } = placesOf(where);
  return [
    // Whole: without the packages in it OpenCode asks the registry for them at each start.
    { from: config, to: ".config/opencode", kind: "config" },
    // Packages of providers and plugins, and the list that says which package a provider is.
    { from: cache, to: ".cache/opencode", kind: "cache" },
    { from: join(data, "auth.json"), to: ".local/share/opencode/auth.json", kind: "login" },
    { from: join(data, "mcp-auth.json"), to: ".local/share/opencode/mcp-auth.json", kind: "login" },
  ];
}

function loginOf(where: UserPlace): Login {
  const { config, data } = placesOf(where);
  const key = KEYS.find((name) => where.env[name]);
  if (key !== undefined) return { state: "yes", how: `${key} is set` };
  const login = join(data, "auth.json");
  if (existsSync(login)) return { state: "yes", how: `${login} exists` };
  const settings = CONFIG_FILES.map((name) => join(config, name)).find((path) => existsSync(path));
  if (settings !== undefined) return { state: "unknown", how: `${settings} may name a provider that needs no login` };
  return { state: "unknown", how: `there is no ${login}; only models that need no login can be used` };
}

/** What prloom knows about OpenCode. */
export const openCodeProgram: AgentProgram = {
  title: "OpenCode",
  command: "opencode",
  projectCode: OPENCODE_PROJECT_SETTINGS,
  instructionFiles: ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"],
  versionArgs: ["--version"],
  least: "1.18.33",
  install: "npm install -g opencode-ai",
  login: "opencode auth login",
  variables: [
    ...KEYS,
    "OPENCODE_CONFIG_CONTENT",
    "OPENCODE_MODELS_URL",
    "ANTHROPIC_BASE_URL",
    "OPENAI_BASE_URL",
    "AZURE_RESOURCE_NAME",
    "AWS_REGION",
  ],
  keeps: [".local/share/opencode/storage", ...KEPT_DATABASE],
  renewKept: renewDatabase,
  homeItems,
  loginOf,
  renewedLogin: (before, after) => renewedTokens(before, after, TOKENS),
  openArgs: ({ sessionId, model }) => [
    ...sessionArgs("--session", sessionId),
    ...(model === undefined ? [] : ["--model", model]),
  ],
  openClosed: ({ projectSettings, env, governed }) => ({
    env: openCodeEnvironment({
      projectSettings,
      configContent: env.OPENCODE_CONFIG_CONTENT,
      permission: env.OPENCODE_PERMISSION,
      governed,
    }),
  }),
};
