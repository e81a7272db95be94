/**
 * The small program between the daemon and its agents: `node shim.ts`. It has one run at a time, and takes the next when the daemon
 * keeps it. It does not outlive the daemon: when its pipe to the daemon closes, it ends all that it started. Imports built-ins
 * and kernel only, because runs wait for its start.
 */
import { flushCompileCache } from "node:module";
import { createInterface } from "node:readline";
import { closeInherited } from "../runner/inherited-files.ts";
import { describe, endBecause, interrupt, note, obey, type ShimRun, takeOn } from "./run.ts";
import { DONE, START_LINE, type StartOrder } from "./shim-protocol.ts";

/** All that there is to tell is on disk by now. Node itself was seen to hang while it ended, and a run is over only when its shim is gone. */
function leave(): void {
  flushCompileCache();
  process.once("exit", () => process.kill(process.pid, "SIGKILL"));
  process.exit(0);
}

let shim: ShimRun | undefined;
let isAlone = false;

function end(): void {
  if (shim) endBecause(shim, "interrupted");
  else leave();
}

function begin(order: StartOrder): void {
  shim = takeOn(order, (how) => {
    shim = undefined;
    // Only what ended by itself proves that this process is sound.
    if (order.kept && how === "complete" && !isAlone) offer();
    else leave();
  });
}

/** While it waits it may be killed at any moment. */
function offer(): void {
  flushCompileCache();
  process.stdout.write(`${DONE}\n`);
}

function fail(error: unknown): void {
  if (shim) {
    interrupt(shim, error);
  } else {
    note(describe(error));
    leave();
  }
}

/** The daemon says "start <order>", then what concerns that run; a closed pipe means that it is dead: a stop. */
function obeyDaemon(): void {
  createInterface({ input: process.stdin }).on("line", (line) => {
    if (line.startsWith(START_LINE)) begin(JSON.parse(line.slice(START_LINE.length)));
    else if (shim) obey(shim, line);
  });
  for (const event of ["end", "error", "close"]) {
    process.stdin.on(event, () => {
      isAlone = true;
      end();
    });
  }
  // A daemon that does not listen any more says so on the other pipe, or is dead.
  process.stdout.on("error", () => process.stdout.destroy());
}

closeInherited();
process.on("SIGINT", () => note("SIGINT ignored: the daemon decides"));
process.on("SIGHUP", () => note("SIGHUP ignored: the daemon decides"));
process.on("SIGTERM", end);
process.on("uncaughtException", fail);
obeyDaemon();
