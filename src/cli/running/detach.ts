import { spawn } from "node:child_process";
import { closeSync, fstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { liveDaemon } from "../../dispatcher/commands/live-daemon.ts";
import { daemonRunning } from "../../dispatcher/commands/open-as-owner.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { ERROR_CODES, PrloomError } from "../../kernel/errors.ts";
import { ensureDir, readTail } from "../../kernel/files.ts";
import { openOwn, TO_APPEND } from "../../kernel/own-file.ts";
import type { Call } from "../output.ts";
import { reading } from "../plans.ts";
import { warnBeforeStart } from "./warn-before-start.ts";

const PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 25;

/** Starts a dispatcher in the background; returns when it answers, or tells why it does not. */
export async function startDetached(call: Call, options: { untilIdle: boolean }): Promise<number> {
  return reading(
    call,
    async (loom) => {
      const live = await liveDaemon(loom.paths);
      // For one that stops the new one waits, as long as it takes a moment.
      if (live && !live.stopping) throw daemonRunning(loom.paths.root);
      await warnBeforeStart(call, loom);
      ensureDir(loom.paths.authority);
      const log = join(loom.paths.authority, "daemon.log");
      const fd = openOwn(log, TO_APPEND);
      const began = fstatSync(fd).size;
      const script = process.argv[1] ?? "";
      const args = [...process.execArgv, script, "start", ...(options.untilIdle ? ["--until-idle"] : [])];
      const child = spawn(process.execPath, args, { cwd: call.cwd, detached: true, stdio: ["ignore", fd, fd] });
      closeSync(fd);
      let failed: Error | undefined;
      child.once("error", (error) => {
        failed = error;
      });
      const outcome = await answerOrEnd(
        loom,
        child.pid,
        () => failed !== undefined || child.exitCode !== null || child.signalCode !== null,
      );
      if (failed) throw failed;
      if (outcome === "ended" && child.exitCode !== 0) throw errorIn(newPart(log, began), log);
      child.unref();
      const { output } = call;
      output.line(
        outcome === "ended" ? "There was nothing to do." : `The dispatcher runs in the background (pid ${child.pid}).`,
      );
      output.line(`  output: ${log}`);
      if (outcome === "answers") output.line("  `prloom status` shows how far it is, `prloom stop` ends it.");
      output.data({ pid: child.pid, running: outcome === "answers", log });
      return 0;
    },
    "start",
  );
}

async function answerOrEnd(loom: Loom, pid: number | undefined, over: () => boolean): Promise<"answers" | "ended"> {
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_EVERY_MS) {
    if (over()) return "ended";
    if ((await liveDaemon(loom.paths))?.pid === pid) return "answers";
    await sleep(LOOK_EVERY_MS);
  }
  throw new PrloomError(
    "control-failed",
    "The dispatcher was started and does not answer.",
    "`prloom status` shows whether it runs by now.",
  );
}

function newPart(log: string, from: number): string {
  return readTail(log, (statSync(log, { throwIfNoEntry: false })?.size ?? 0) - from);
}

/** The error that the dispatcher printed before it ended, as if it had happened here. */
function errorIn(text: string, log: string): PrloomError {
  const [, message = "The dispatcher ended at once.", name, hint] =
    /^error: (.*) \[([a-z-]+)\]\n(?: {2}(?!hint).*\n)* {2}hint: (.*)$/m.exec(text) ?? [];
  const code = ERROR_CODES.find((candidate) => candidate === name) ?? "internal";
  return new PrloomError(code === "internal" ? "control-failed" : code, message, hint ?? `${log} has what it said.`);
}
