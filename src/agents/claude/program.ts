import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readCheckedOut } from "../../kernel/files.ts";
import { asFields, type JsonFields } from "../../kernel/json-fields.ts";
import { MAX_FILE_BYTES } from "../../kernel/own-file.ts";
import { sessionArgs } from "../dialogue/session-id.ts";
import type { AgentProgram, HomeItem, Login, UserPlace } from "../program.ts";
import { renewedTokens } from "../sandbox/login-renewal.ts";
import { KEPT_CONVERSATIONS, renewConversations } from "./kept-conversations.ts";

/** Claude Code's folder, and its file of settings and state, which lies beside it unless a variable has moved the folder. */
function placesOf({ home, env }: UserPlace): { readonly folder: string; readonly state: string } {
  if (!env.CLAUDE_CONFIG_DIR) return { folder: join(home, ".claude"), state: join(home, ".claude.json") };
  const folder = resolve(env.CLAUDE_CONFIG_DIR);
  return { folder, state: join(folder, ".claude.json") };
}

/** Keys, each of which is a login by itself. */
const KEYS = ["CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"] as const;

/** Others than Anthropic itself, with logins of their own. */
const ELSEWHERE = ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"] as const;

const FOLDER_ITEMS = ["settings.json", "CLAUDE.md", "agents", "commands", "skills", "hooks", "output-styles"] as const;

const TOKENS = ["accessToken", "refreshToken", "expiresAt", "refreshTokenExpiresAt"].map((key) => [
  "claudeAiOauth",
  key,
]);

function homeItems(where: UserPlace): HomeItem[] {
  const { folder, state } = placesOf(where);
  return [
    ...FOLDER_ITEMS.map((name): HomeItem => ({ from: join(folder, name), to: `.claude/${name}`, kind: "config" })),
    { from: state, to: ".claude.json", kind: "config" },
    { from: join(folder, ".credentials.json"), to: ".claude/.credentials.json", kind: "login" },
  ];
}

/** Of the files only the names of their keys are looked at. */
function loginOf(where: UserPlace): Login {
  const { folder, state } = placesOf(where);
  const settings = fieldsOfFile(join(folder, "settings.json"));
  const named = KEYS.find((name) => where.env[name]);
  if (named !== undefined) return { state: "yes", how: `${named} is set` };
  const credentials = join(folder, ".credentials.json");
  if (existsSync(credentials)) return { state: "yes", how: `${credentials} exists` };
  const inSettings = KEYS.find((name) => name in asFields(settings.env));
  if (inSettings !== undefined) return { state: "yes", how: `${join(folder, "settings.json")} sets ${inSettings}` };
  if ("primaryApiKey" in fieldsOfFile(state)) return { state: "yes", how: `${state} has a key` };
  const elsewhere = ELSEWHERE.find((name) => where.env[name] || name in asFields(settings.env));
  if (elsewhere !== undefined)
    return { state: "unknown", how: `${elsewhere} is set: the login is that of the provider` };
  if ("apiKeyHelper" in settings)
    return { state: "unknown", how: `${join(folder, "settings.json")} names an apiKeyHelper` };
  if ("oauthAccount" in fieldsOfFile(state))
    return { state: "unknown", how: `${state} names an account; its login may be in a keychain` };
  return { state: "no", how: `there is no ${credentials}, and ANTHROPIC_API_KEY is not set` };
}

function fieldsOfFile(path: string): JsonFields {
  try {
    return asFields(JSON.parse(readCheckedOut(path, MAX_FILE_BYTES) ?? "{}"));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** What prloom knows about Anthropic's Claude Code. */
export const claudeProgram: AgentProgram = {
  title: "Claude Code",
  command: "claude",
  versionArgs: ["--version"],
  least: "2.1.325",
  instructionFiles: ["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"],
  install: "npm install -g @anthropic-ai/claude-code",
  login: "claude auth login",
  placeVariables: ["CLAUDE_CONFIG_DIR"],
  variables: [
    ...KEYS,
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    ...ELSEWHERE,
    // Not the keys of a whole account with these: a user who wants that names them in passEnv.
    "AWS_REGION",
    "AWS_BEARER_TOKEN_BEDROCK",
    "ANTHROPIC_BEDROCK_BASE_URL",
    "CLOUD_ML_REGION",
    "ANTHROPIC_VERTEX_PROJECT_ID",
    "ANTHROPIC_VERTEX_BASE_URL",
    "ANTHROPIC_FOUNDRY_RESOURCE",
    "ANTHROPIC_FOUNDRY_API_KEY",
  ],
  // Not `memory` beside them, which it takes for instructions.
  keeps: [KEPT_CONVERSATIONS],
  renewKept: renewConversations,
  homeItems,
  loginOf,
  renewedLogin: (before, after) => renewedTokens(before, after, TOKENS),
  openArgs: ({ sessionId, model }) => [
    ...sessionArgs("--resume", sessionId),
    ...(model === undefined ? [] : ["--model", model]),
  ],
  // Rules that deny count before all others. A tool that is in none of them is the person's to allow.
  openClosed: ({ reason, tools }) => ({
    args: [
      ...[
        "--settings",
        JSON.stringify({ permissions: { deny: tools, ask: ["*"], disableBypassPermissionsMode: "disable" } }),
      ],
      ...["--append-system-prompt", reason],
    ],
  }),
};
