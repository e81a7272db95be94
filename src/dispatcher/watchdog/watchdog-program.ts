/** What the thread of the watchdog is given. */
export interface WatchdogData {
  /** Beat, stopped, bytes of the label and of the plan (Int32 each), then 64 bytes for the plan, then the label, in UTF-8. */
  readonly memory: SharedArrayBuffer;
  readonly limitMs: number;
  /** Length of one wake-up. */
  readonly stepMs: number;
  readonly noteFile: string;
  readonly temporaryFile: string;
}

/**
 * The thread of the watchdog, as CommonJS text. It must not use anything that the main thread would have to answer for
 * (process.stderr, for one): when it matters, that thread answers nothing. A pipe that is not read, or a disk that
 * hangs, must not keep it from ending the process, so writing has two seconds.
 */
export const watchdogProgram = `"use strict";
const { workerData } = require("node:worker_threads");
const fs = require("node:fs");
const { memory, limitMs, stepMs, noteFile, temporaryFile } = workerData;
const signals = new Int32Array(memory, 0, 4);
const [BEAT, STOPPED, LABEL_BYTES, PLAN_BYTES] = [0, 1, 2, 3];

function blockedFor() {
  let beat = Atomics.load(signals, BEAT);
  // Each wake-up counts as one step however late it comes: no thread runs while the process is stopped.
  for (let silentMs = 0; silentMs < limitMs; ) {
    Atomics.wait(signals, STOPPED, 0, stepMs);
    if (Atomics.load(signals, STOPPED) !== 0) return undefined;
    const now = Atomics.load(signals, BEAT);
    silentMs = now === beat ? silentMs + stepMs : 0;
    beat = now;
  }
  return limitMs;
}

function read(start, signal) {
  const shared = new Uint8Array(memory, start, Atomics.load(signals, signal));
  return new TextDecoder().decode(Uint8Array.from(shared));
}

async function tell({ label, plan }, blockedMs) {
  const note = { schemaVersion: 1, at: new Date().toISOString(), label, ...(plan && { plan }), blockedMs };
  await fs.promises.writeFile(temporaryFile, JSON.stringify(note) + "\\n");
  await fs.promises.rename(temporaryFile, noteFile);
}

function say({ label, plan }, blockedMs) {
  const what = label.replace(/\\p{Cc}/gu, "") || "something in prloom itself";
  const who = plan ? "plan " + plan + " (" + what + ")" : what;
  const time = blockedMs >= 1000 ? Math.round(blockedMs / 1000) + " s" : blockedMs + " ms";
  const line = "prloom: " + who + " blocked the dispatcher for " + time +
    "; ended it. The attempt is counted; run \`prloom start\` again.\\n";
  return new Promise((resolve) => fs.write(2, line, resolve));
}

const blockedMs = blockedFor();
if (blockedMs !== undefined) {
  const end = () => process.kill(process.pid, "SIGKILL");
  setTimeout(end, 2000);
  const work = { plan: read(16, PLAN_BYTES), label: read(80, LABEL_BYTES) };
  const said = () => say(work, blockedMs);
  tell(work, blockedMs).then(said, said).then(end, end);
}
`;
