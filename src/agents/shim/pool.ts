import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { PassThrough, type Readable } from "node:stream";
import { inOneLine } from "../../kernel/json.ts";
import { isScarce } from "../../kernel/system/used-up.ts";
import { DONE, NO_ROOM, SAID } from "./shim-protocol.ts";

/** What a run hears of its shim. */
export interface ShimEvents {
  /** The run is complete, and the shim is free. */
  done(): void;
  /** It waits for room on the disk. */
  noRoom?(): void;
  /** The process has ended, or could not be started. */
  gone(error?: Error): void;
}

/** A shim, as the process sees it that started it. */
export class Shim {
  readonly child: ChildProcess;
  #events: ShimEvents | undefined;
  #said = new PassThrough();

  constructor(child: ChildProcess) {
    this.child = child;
    // One that died cannot be told anything; `gone` says so.
    child.stdin?.on("error", () => child.stdin?.destroy());
    child.once("exit", () => this.#events?.gone()).once("error", (error) => this.#events?.gone(error));
    // Without any files left it has no pipes.
    if (!child.stdout) return;
    const lines = createInterface({ input: child.stdout.on("error", () => child.stdout?.destroy()) });
    lines.on("line", (line) => this.#hear(line)).on("close", () => this.#said.end());
  }

  /** Gives it to a run; returns what the program of that run says, to its end. */
  attach(events: ShimEvents): Readable {
    this.#events = events;
    const goOn = (): void => void this.child.stdout?.resume();
    this.#said = new PassThrough().on("drain", goOn).on("close", goOn);
    if (!this.child.stdout) this.#said.end();
    // It was paused for the run before if that ended before all was taken: a stream that ends does not drain.
    this.child.stdout?.resume();
    return this.#said;
  }

  tell(line: string): void {
    if (this.child.stdin?.writable) this.child.stdin.write(`${inOneLine(line)}\n`);
  }

  /** It ends its run and itself, and is not listened to any more. */
  dismiss(lastWord: string): void {
    this.child.stdin?.end(`${lastWord}\n`);
    // It waits until we have taken what it has to tell, and we will not take it any more.
    this.child.stdout?.destroy();
    this.#said.end();
  }

  /** Whether our process must live for it. */
  hold(isHeld: boolean): void {
    const { child } = this;
    for (const part of [child, child.stdin, child.stdout] as { ref?(): void; unref?(): void }[]) {
      if (isHeld) part.ref?.();
      else part.unref?.();
    }
  }

  #hear(line: string): void {
    if (line === DONE) {
      this.#said.end();
      this.#events?.done();
    } else if (line === NO_ROOM) this.#events?.noRoom?.();
    else if (line.startsWith(SAID) && this.#said.writable) {
      // The program waits until the dispatcher has taken what it said.
      if (!this.#said.write(Buffer.from(line.slice(SAID.length), "base64"))) this.child.stdout?.pause();
    }
  }
}

/** How long one waits for the next run before its memory is worth more. */
const IDLE_MS = 60_000;

/** Shims whose run is complete and that wait for another: to start one takes longer than all that it does for a run. */
export class ShimPool {
  /** Where they stand: no folder that is removed before they end. */
  readonly cwd: string;
  readonly #idle = new Map<Shim, NodeJS.Timeout>();
  #isClosed = false;

  constructor(cwd: string) {
    this.cwd = cwd;
  }

  /** One that waits, if there is one. */
  take(): Shim | undefined {
    // Where processes are scarce a new shim finds that out; a program that is started without enough of them may hang for ever.
    if (isScarce()) this.#endIdle();
    const newest = [...this.#idle.keys()].at(-1);
    if (newest) this.#forget(newest);
    newest?.hold(true);
    return newest;
  }

  give(shim: Shim): void {
    shim.attach({ done: () => undefined, gone: () => this.#forget(shim) });
    this.#idle.set(shim, setTimeout(() => this.#end(shim), IDLE_MS).unref());
    shim.hold(false);
    if (this.#isClosed || isScarce()) this.#endIdle();
  }

  /** Ends those that wait. They have nothing to lose. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const ended = this.#endIdle().map(async (shim) => {
      shim.hold(true);
      await once(shim.child, "exit");
    });
    await Promise.all(ended);
  }

  #endIdle(): Shim[] {
    const idle = [...this.#idle.keys()];
    for (const shim of idle) this.#end(shim);
    return idle;
  }

  /** Forgotten first: one that is dying must not be given a run. */
  #end(shim: Shim): void {
    this.#forget(shim);
    shim.child.kill("SIGKILL");
  }

  #forget(shim: Shim): void {
    clearTimeout(this.#idle.get(shim));
    this.#idle.delete(shim);
  }
}
