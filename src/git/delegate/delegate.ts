import { type ChildProcess, spawn } from "node:child_process";
import { channel } from "node:diagnostics_channel";
import { once } from "node:events";
import { resolve as resolvePath } from "node:path";
import { fileURLToPath } from "node:url";
import { isScarce } from "../../kernel/system/used-up.ts";
import { passedVariables } from "../environment.ts";
import { bytesIn, type Encoding } from "../output.ts";
import { type GitCall, type GitEnd, runGit } from "./process.ts";

export interface DelegatedCall {
  readonly id: number;
  readonly call: GitCall;
  readonly input?: Uint8Array;
}

export interface DelegatedEnd {
  readonly id: number;
  readonly end: GitEnd;
}

/** The program lies beside this file, as source and as bundle. */
const PROGRAM = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./delegate-program.ts" : "./delegate-program.js", import.meta.url),
);

/** So many are started here before the delegate is worth its own start. */
const FIRST = 30;
/** What is longer goes to git piece by piece, from here. */
const MAX_INPUT = 1024 * 1024;

/** What counts the processes that a dispatcher asks for hears of these here. */
const delegated = channel("prloom:git-delegated");

/** Nothing is known of a git whose delegate died: as if the git itself had been killed. */
const LOST: GitEnd = { kind: "ended", code: null, signal: "SIGKILL", stdout: [], stderr: "" };

/** The process that starts git for us. */
class Delegate {
  readonly child: ChildProcess;
  readonly #waiting = new Map<number, (end: GitEnd) => void>();
  #last = 0;

  constructor() {
    this.child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", PROGRAM], {
      cwd: "/",
      env: passedVariables(),
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
    });
    this.child.on("message", ({ id, end }: DelegatedEnd) => this.#answer(id, end));
    this.child.once("error", () => this.#lose()).once("exit", () => this.#lose());
    this.#hold();
  }

  run(call: GitCall, input: Uint8Array | undefined): Promise<GitEnd> {
    return new Promise((resolve) => {
      this.#last += 1;
      const id = this.#last;
      this.#waiting.set(id, resolve);
      this.#hold();
      delegated.publish(call.program);
      // It stands elsewhere.
      const there = { ...call, cwd: resolvePath(call.cwd ?? "") };
      const message: DelegatedCall = { id, call: there, ...(input === undefined ? {} : { input }) };
      this.child.send(message, (error) => error && this.#answer(id, LOST));
    });
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null || this.child.pid === undefined) return;
    this.child.ref();
    this.child.kill("SIGKILL");
    await once(this.child, "exit");
  }

  #answer(id: number, end: GitEnd): void {
    this.#waiting.get(id)?.(end);
    this.#waiting.delete(id);
    this.#hold();
  }

  #lose(): void {
    if (delegate === this) delegate = undefined;
    for (const id of [...this.#waiting.keys()]) this.#answer(id, LOST);
  }

  /** Our process lives for an answer, and not for the delegate. */
  #hold(): void {
    this.child.unref();
    if (this.#waiting.size > 0) this.child.channel?.ref();
    else this.child.channel?.unref();
  }
}

let isAllowed = false;
let started = 0;
let delegate: Delegate | undefined;

/** From now on git may be started by a process of its own. Not for one command, and not where a checkout could replace our files. */
export function delegateGit(): void {
  isAllowed = true;
}

/** Ends the delegate, if there is one. */
export async function endDelegate(): Promise<void> {
  isAllowed = false;
  await delegate?.end();
}

/** Runs a git, here or elsewhere. */
export async function runDelegated(
  call: GitCall,
  input: string | Iterable<string> | undefined,
  encoding: Encoding,
): Promise<GitEnd> {
  started += 1;
  const here = (from: typeof input) => runGit(call, from === undefined ? undefined : bytesIn(from, encoding));
  // A new process is what finds out that there are none left.
  if (!isAllowed || started <= FIRST || isScarce()) return here(input);
  const { whole, pieces } = beginningOf(input);
  if (!whole) return here(pieces);
  delegate ??= new Delegate();
  const bytes = input === undefined ? undefined : Buffer.from([...pieces].join(""), encoding);
  return delegate.run(call, bytes);
}

/** All of the input where it is short; else pieces that have all of it, once. */
function beginningOf(input: string | Iterable<string> | undefined): { whole: boolean; pieces: Iterable<string> } {
  if (input === undefined || typeof input === "string")
    return { whole: (input?.length ?? 0) <= MAX_INPUT, pieces: [input ?? ""] };
  const rest = input[Symbol.iterator]();
  const read: string[] = [];
  for (let size = 0; size <= MAX_INPUT; ) {
    const { value, done } = rest.next();
    if (done) return { whole: true, pieces: read };
    read.push(value);
    size += value.length;
  }
  return { whole: false, pieces: continued(read, rest) };
}

function* continued(read: readonly string[], rest: Iterator<string>): Generator<string> {
  yield* read;
  for (let next = rest.next(); !next.done; next = rest.next()) yield next.value;
}
