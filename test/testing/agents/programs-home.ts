import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ProgramName, ripgrepFolder } from "./programs.ts";

/** A home in which a program knows the scripted model and nothing else. */
export interface IsolatedHome {
  readonly home: string;
  /** The whole environment to start the program with by hand. */
  readonly env: Readonly<Record<string, string>>;
  /** For `agents.<name>` of a config: what the program needs beside its home. */
  readonly config: { readonly env: Readonly<Record<string, string>>; readonly model?: string };
}

/** What a program is told in files of its home, in variables, and by the name of a model. */
interface Setup {
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly model?: string;
}

/** Not a secret: the scripted model takes any. */
const KEY = "scripted-key";

const SETUPS: Readonly<Record<ProgramName, (url: string) => Setup>> = {
  opencode: (url) => ({
    files: { ...opencodeFiles(url), ".config/opencode/node_modules/.keep": "" },
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_CLAUDE_CODE: "1",
      OPENCODE_DISABLE_EXTERNAL_SKILLS: "1",
      OPENCODE_DISABLE_SHARE: "1",
      PATH: `${ripgrepFolder()}:${searched()}`,
    },
    model: "scripted/scripted-1",
  }),
  claude: (url) => ({
    files: { ".claude.json": json({ hasCompletedOnboarding: true }) },
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: KEY,
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  }),
  codex: (url) => ({
    files: { ".codex/config.toml": codexConfig(url) },
    env: { SCRIPTED_KEY: KEY },
  }),
  gemini: (url) => ({
    files: { ".gemini/settings.json": json(GEMINI_SETTINGS) },
    env: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url },
  }),
};

/** Makes the home of a user who has a program set up for the scripted model at `modelUrl`; `home` may exist. */
export function isolatedHome(program: ProgramName, modelUrl: string, home: string): IsolatedHome {
  const { files, env, model } = SETUPS[program](modelUrl);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  // Programs leave reports there; those that look for their home below it are not misled.
  const temporary = join(home, "tmp");
  mkdirSync(temporary, { recursive: true });
  const config = { env, ...(model === undefined ? {} : { model }) };
  return { home, env: { PATH: searched(), HOME: home, TMPDIR: temporary, TERM: "dumb", ...env }, config };
}

function searched(): string {
  return `${dirname(process.execPath)}:${process.env.PATH ?? "/usr/bin:/bin"}`;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** With a lock file and a folder that fit, OpenCode does not ask the registry for its plugin package at each start. */
function opencodeFiles(url: string): Record<string, string> {
  const dependencies = { "@opencode-ai/plugin": "*" };
  const limit = { context: 200_000, output: 8000 };
  const scripted = {
    npm: "@ai-sdk/openai-compatible",
    name: "Scripted",
    options: { baseURL: `${url}/v1`, apiKey: KEY },
    models: {
      "scripted-1": { name: "Scripted 1", tool_call: true, limit, cost: { input: 1, output: 2 } },
      // A name for which OpenCode offers its patch tool instead of the one that writes.
      "gpt-5-scripted": { name: "Scripted GPT", tool_call: true, limit },
    },
  };
  const config = {
    $schema: "https://opencode.ai/config.json",
    model: "scripted/scripted-1",
    small_model: "scripted/scripted-1",
    autoupdate: false,
    share: "disabled",
    lsp: false,
    formatter: false,
    enabled_providers: ["scripted"],
    provider: { scripted },
  };
  return {
    ".config/opencode/opencode.json": json(config),
    ".config/opencode/package.json": json({ dependencies }),
    ".config/opencode/package-lock.json": json({ lockfileVersion: 3, packages: { "": { dependencies } } }),
  };
}

function codexConfig(url: string): string {
  return `model = "scripted-1"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "Scripted"
base_url = "${url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"

[analytics]
enabled = false
`;
}

const GEMINI_SETTINGS = {
  security: { auth: { selectedType: "gemini-api-key" } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  // Without a name another model is asked first which one fits.
  model: { name: "gemini-2.5-pro" },
  general: { maxAttempts: 2, disableAutoUpdate: true, disableUpdateNag: true, enableAutoUpdate: false },
};
