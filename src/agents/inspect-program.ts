import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../kernel/system/environment.ts";
import { killGroup } from "../kernel/system/process-tree.ts";
import { homeFolder } from "../kernel/system/user.ts";
import { agentEnvironment } from "./environment.ts";
import type { AgentProgram, Login } from "./program.ts";

/** What an installed agent program tells about itself. Never a secret. */
export interface ProgramFacts {
  readonly title: string;
  readonly file: string;
  /** Absent when it did not tell. */
  readonly version?: string;
  /** The oldest version that prloom was tried with. */
  readonly least: string;
  readonly tooOld: boolean;
  /** Why it cannot even tell its version. */
  readonly broken?: string;
  readonly login: Login;
}

/** Programs that look for updates, or install something, before they answer. */
const ANSWER_MS = 20_000;
const MAX_BYTES = 64 * 1024;

/** Asks a program for its version, and looks whether it is logged in; it is started for nothing else. */
export async function inspectProgram(
  { env }: { readonly env: Environment },
  program: AgentProgram,
  options: { readonly file: string; readonly answerMs?: number },
): Promise<ProgramFacts> {
  const { file, answerMs = ANSWER_MS } = options;
  const answer = await askVersion(env, { file, args: program.versionArgs, answerMs });
  const version = versionIn(answer.said);
  const known = version === undefined ? {} : { version };
  const broken = version !== undefined || answer.code === 0 ? {} : { broken: complaintOf(answer, answerMs) };
  return {
    title: program.title,
    file,
    ...known,
    least: program.least,
    tooOld: version !== undefined && isOlder(version, program.least),
    ...broken,
    login: program.loginOf({ home: homeFolder(env), env }),
  };
}

function complaintOf({ said, code }: ProgramAnswer, answerMs: number): string {
  if (code === "late") return `it gave no answer within ${Math.round(answerMs / 1000)} s`;
  const [line = ""] = said.split("\n").filter((one) => one.trim() !== "");
  return line.trim() === "" ? `it ends with ${code ?? "a signal"}` : line.trim();
}

interface ProgramQuestion {
  readonly file: string;
  readonly args: readonly string[];
  readonly answerMs: number;
}

interface ProgramAnswer {
  readonly said: string;
  readonly code: number | null | "late";
}

/**
 * In an empty home first: even for their version programs make folders and files in it, and read settings that may start
 * more. One that lies in the user's home, and finds itself by that, is asked once more with it.
 */
async function askVersion(parent: Environment, question: ProgramQuestion): Promise<ProgramAnswer> {
  const env = agentEnvironment(parent, { vars: {}, extra: {} });
  const empty = mkdtempSync(join(tmpdir(), "prloom-version-"));
  try {
    const plain = Object.entries(env).filter(([name]) => !name.startsWith("XDG_"));
    const answer = await ask(question, { ...Object.fromEntries(plain), HOME: empty, TMPDIR: empty }, empty);
    if (answer.code === "late" || versionIn(answer.said) !== undefined) return answer;
    return await ask(question, env, empty);
  } finally {
    rmSync(empty, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** What a program prints within the time it has; then all of it is killed. */
function ask(
  { file, args, answerMs }: ProgramQuestion,
  env: Record<string, string>,
  cwd: string,
): Promise<ProgramAnswer> {
  return new Promise((resolve) => {
    // A group of its own: programs are often wrappers, and the one that hangs is the one they started.
    const child = spawn(file, args, { env, cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    const hear = (text: string): void => {
      if (said.length < MAX_BYTES) said += text;
    };
    // Without any files left there are no pipes; the error comes in a moment.
    child.stdout?.setEncoding("utf8").on("data", hear);
    child.stderr?.setEncoding("utf8").on("data", hear);
    const end = (code: ProgramAnswer["code"]): void => {
      clearTimeout(timer);
      killGroup(child.pid);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ said, code });
    };
    const timer = setTimeout(() => end("late"), answerMs);
    child.once("error", (error) => {
      said ||= error.message;
      end(null);
    });
    child.once("close", (code) => end(code));
  });
}

/** The first thing in the text that looks like a version. */
export function versionIn(text: string): string | undefined {
  return /(?<![\d.])\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?/.exec(text)?.[0];
}

/** Whether a version comes before another; what follows the three numbers does not count. */
export function isOlder(version: string, least: string): boolean {
  const [mine, other] = [version, least].map((text) => text.split(/[.-]/, 3).map(Number));
  for (const [index, number] of (other ?? []).entries()) {
    const own = mine?.[index] ?? 0;
    if (own !== number) return own < number;
  }
  return false;
}
