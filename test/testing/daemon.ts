import { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Progress } from "../../src/dispatcher/capabilities.ts";
import { appears } from "./agents/agent-scripts.ts";
import type { CliResult, Project } from "./project.ts";

/** A dispatcher that runs beside the test. */
export interface Daemon {
  readonly pid: number;
  /** Resolves when the dispatcher has said this about a plan, `count` times since it started. */
  said(plan: string | undefined, pattern: RegExp, count?: number): Promise<Progress>;
  /** Ends it with a signal and waits until it is gone. */
  end(signal?: NodeJS.Signals): Promise<CliResult>;
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<CliResult>;
}

/** Starts `prloom start` and waits until it answers. */
export async function startDaemon(project: Project, env: Record<string, string> = {}): Promise<Daemon> {
  mkdirSync(project.authority, { recursive: true });
  const child = project.spawnCli(["start", "--json"], env);
  const daemon = follow(child);
  await Promise.race([appears(join(project.authority, "daemon.json")), daemon.ended.then(failedToStart)]);
  return daemon;
}

function failedToStart(result: CliResult): never {
  throw new Error(`the dispatcher did not start:\n${result.stdout}${result.stderr}`);
}

function follow(child: ChildProcess): Daemon {
  const seen: Progress[] = [];
  const more = new EventEmitter();
  more.setMaxListeners(0);
  let stdout = "";
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (data) => (stderr += data));
  if (child.stdout) {
    createInterface({ input: child.stdout }).on("line", (line) => {
      stdout += `${line}\n`;
      seen.push(JSON.parse(line));
      more.emit("progress");
    });
  }
  let gone = false;
  const ended = once(child, "close").then(([code, signal]): CliResult => {
    gone = true;
    more.emit("progress");
    return { code, signal, stdout, stderr };
  });
  return {
    pid: child.pid ?? 0,
    ended,
    async said(plan, pattern, count = 1) {
      for (;;) {
        const found = seen.filter((one) => one.planId === plan && pattern.test(one.text ?? ""))[count - 1];
        if (found) return found;
        if (gone) throw new Error(`the dispatcher ended without saying ${pattern} of ${plan}:\n${stdout}${stderr}`);
        await once(more, "progress");
      }
    },
    async end(signal = "SIGTERM") {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs a program of the machine and says whether it succeeded. */
export async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  const child = spawn(program, args, { stdio: "ignore" });
  const ended = Promise.withResolvers<boolean>();
  child.once("error", () => ended.resolve(false)).once("exit", (code) => ended.resolve(code === 0));
  return ended.promise;
}
