import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SIGNED_FOR } from "../../gate/signed-answer.ts";
import type { Environment } from "../../kernel/system/environment.ts";
import { findProgram, trustedPath } from "../../kernel/system/find-program.ts";

export interface KeygenEnd {
  readonly code: number | null | "late";
  readonly stdout: string;
  readonly stderr: string;
}

interface KeygenCall {
  readonly args: readonly string[];
  readonly input: string;
  readonly env: Environment;
  readonly deadlineMs: number;
}

const MAX_SAID = 64 * 1024;

/** Where ssh-keygen is; undefined if it is not installed. */
export function findKeygen(env: Environment): string | undefined {
  return findProgram("ssh-keygen", trustedPath(env.PATH), "/");
}

/** Runs it to its end, or until it has taken too long. */
export function runKeygen(file: string, { args, input, env, deadlineMs }: KeygenCall): Promise<KeygenEnd> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { env: { ...env }, cwd: "/", stdio: ["pipe", "pipe", "pipe"] });
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name]?.setEncoding("utf8").on("data", (text: string) => {
        if (said[name].length < MAX_SAID) said[name] += text;
      });
    const end = (code: KeygenEnd["code"]): void => {
      clearTimeout(timer);
      resolve({ code, ...said });
    };
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      end("late");
    }, deadlineMs);
    child.once("error", (error) => {
      said.stderr ||= error.message;
      end(null);
    });
    child.once("close", (code) => end(code));
    // It may end before it has read everything; how it ended is what counts.
    child.stdin?.on("error", () => undefined).end(input);
  });
}

/** A folder that only this user can read, for as long as `act` takes. */
export async function inPrivateFolder<T>(
  files: Readonly<Record<string, string>>,
  act: (pathOf: (name: string) => string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "prloom-signature-"));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
    return await act((name) => join(folder, name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface ToVerify {
  readonly text: string;
  readonly signature: string;
  /** The text of the file of allowed signers. */
  readonly signers: string;
  readonly env: Environment;
}

export type Verified =
  | { readonly kind: "valid"; readonly signer: string }
  | { readonly kind: "refused"; readonly why: string };

const DEADLINE_MS = 20_000;
/** One key may stand for several principals. */
const MAX_PRINCIPALS = 10;

/** Whose signature it is, by the file of signers and at this time. */
export async function verifySignature({ text, signature, signers, env }: ToVerify): Promise<Verified> {
  const keygen = findKeygen(env);
  if (keygen === undefined) return { kind: "refused", why: "ssh-keygen is not installed where prloom runs" };
  const call = { input: "", env: { PATH: trustedPath(env.PATH), LC_ALL: "C" }, deadlineMs: DEADLINE_MS };
  return inPrivateFolder({ signers, signature: `${signature}\n` }, async (pathOf) => {
    const files = ["-f", pathOf("signers"), "-s", pathOf("signature")];
    const found = await runKeygen(keygen, { ...call, args: ["-Y", "find-principals", ...files] });
    if (found.code !== 0) return { kind: "refused", why: whyNot(found) };
    const principals = found.stdout.split("\n").filter((line) => line !== "");
    let last = found;
    for (const signer of principals.slice(0, MAX_PRINCIPALS)) {
      last = await runKeygen(keygen, {
        ...call,
        input: text,
        args: ["-Y", "verify", "-I", signer, "-n", SIGNED_FOR, ...files],
      });
      if (last.code === 0) return { kind: "valid", signer };
    }
    return { kind: "refused", why: whyNot(last) };
  });
}

/** For people; what ssh-keygen prints names our own files. */
function whyNot({ code, stderr }: KeygenEnd): string {
  if (code === "late") return "ssh-keygen took too long";
  if (/has expired|not yet valid/.test(stderr)) return "its key is not valid at this time";
  if (/parse signature/.test(stderr)) return "it cannot be read";
  if (/No principal matched/.test(stderr)) return "its key is not among the signers";
  if (/namespace/.test(stderr)) return `it is not made for ${SIGNED_FOR}`;
  return "it is not of these words";
}
