import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { acquireOwnerLock } from "../../../src/kernel/owner-lock.ts";

export type ProgramName = "opencode" | "claude" | "codex" | "gemini";

export interface Installed {
  /** The program, absolute. */
  readonly command: string;
  readonly version: string;
}

interface Pinned {
  readonly version: string;
  readonly packages: readonly string[];
  /** Relative to where the packages were installed. */
  readonly command: string;
}

const PLATFORM = `${process.platform}-${process.arch}`;
const RIPGREP = "1.18.0";

/** The versions that were tried; the wrappers around native programs are left out where these can be had alone. */
const PROGRAMS: Readonly<Record<ProgramName, Pinned>> = {
  opencode: {
    version: "1.18.33",
    packages: [`opencode-${PLATFORM}@1.18.33`, `@vscode/ripgrep-${PLATFORM}@${RIPGREP}`],
    command: `node_modules/opencode-${PLATFORM}/bin/opencode`,
  },
  claude: {
    version: "2.1.325",
    packages: [`@anthropic-ai/claude-code-${PLATFORM}@2.1.325`],
    command: `node_modules/@anthropic-ai/claude-code-${PLATFORM}/claude`,
  },
  // With its wrapper, as people have it: that one must die too.
  codex: { version: "0.166.0", packages: ["@openai/codex@0.166.0"], command: "node_modules/.bin/codex" },
  gemini: { version: "0.61.0", packages: ["@google/gemini-cli@0.61.0"], command: "node_modules/.bin/gemini" },
};

const KEPT = fileURLToPath(new URL("../../../node_modules/.cache/prloom-programs/", import.meta.url));

/** Where a program is or will be; whole once it is there. */
function programFolder(name: ProgramName): string {
  return join(KEPT, `${name}@${PROGRAMS[name].version}`);
}

/** A folder with what OpenCode would otherwise download, for PATH. */
export function ripgrepFolder(): string {
  return join(programFolder("opencode"), "node_modules", "@vscode", `ripgrep-${PLATFORM}`, "bin");
}

/**
 * Installs a real agent program from the package registry, once for all test processes and runs. Where that is not
 * possible it says why, so that a test can be skipped with the reason; PRLOOM_REAL_AGENTS=require makes it an error.
 */
export async function installProgram(name: ProgramName): Promise<Installed | { readonly missing: string }> {
  const { version, command } = PROGRAMS[name];
  const folder = programFolder(name);
  const installed = { command: join(folder, command), version };
  if (existsSync(installed.command)) return installed;
  try {
    await installOnce(name, folder);
    if (!existsSync(installed.command)) throw new Error(`its package has no ${command} (for ${PLATFORM})`);
    return installed;
  } catch (error) {
    const missing = `${name} ${version} could not be installed from the package registry: ${reasonOf(error)}`;
    if (process.env.PRLOOM_REAL_AGENTS === "require") throw new Error(missing, { cause: error });
    return { missing };
  }
}

/** How long others may take that install the same; beyond that we do it ourselves. */
const MAX_INSTALL_MS = 300_000;

async function installOnce(name: ProgramName, folder: string): Promise<void> {
  mkdirSync(KEPT, { recursive: true });
  const lock = await acquireOwnerLock(join(KEPT, `${name}.lock`), MAX_INSTALL_MS);
  try {
    if (existsSync(folder)) return;
    const failed = refusalOf(folder);
    if (failed !== undefined) throw new Error(failed);
    await install(name, folder);
  } finally {
    lock?.release();
  }
}

async function install(name: ProgramName, folder: string): Promise<void> {
  const unfinished = mkdtempSync(join(KEPT, `.${name}-`));
  try {
    writeFileSync(join(unfinished, "package.json"), '{"private": true}\n');
    const asked = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
    const patience = ["--fetch-retries=1", "--fetch-timeout=60000"];
    const options = { cwd: unfinished, env: npmEnvironment(), timeout: MAX_INSTALL_MS };
    await promisify(execFile)("npm", [...asked, ...patience, ...PROGRAMS[name].packages], options);
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    writeFileSync(`${folder}.failed`, JSON.stringify({ at: Date.now(), reason: reasonOf(error) }));
    throw error;
  }
}

/** Test files that come after one that could not install need not try it all over again. */
function refusalOf(folder: string): string | undefined {
  const note = `${folder}.failed`;
  if (!existsSync(note)) return undefined;
  const { at, reason } = JSON.parse(readFileSync(note, "utf8")) as { at: number; reason: string };
  return Date.now() - at < MAX_INSTALL_MS ? reason : undefined;
}

/** What `npm run` and a test's own settings leave in the environment must not reach another npm. */
function npmEnvironment(): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(([key]) => !/^npm_(package|lifecycle|command)/.test(key));
  return { ...Object.fromEntries(kept), PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
}

function reasonOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string };
  const told = /npm error (?!code)(.+)/.exec(stderr ?? "")?.[1];
  return (told ?? message ?? String(error)).split("\n")[0] ?? "";
}
