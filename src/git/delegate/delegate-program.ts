/**
 * A small process that starts git for a dispatcher: `node delegate-program.ts`, over Node's own channel. To start a process is to
 * copy the tables of all memory that one has, and a dispatcher has three times as much. It ends with the channel.
 */
import type { DelegatedCall, DelegatedEnd } from "./delegate.ts";
import { runGit } from "./process.ts";

async function* once(input: Uint8Array): AsyncGenerator<Uint8Array> {
  yield input;
}

async function answer({ id, call, input }: DelegatedCall): Promise<void> {
  const end = await runGit(call, input === undefined ? undefined : once(input));
  const told: DelegatedEnd = { id, end: end.kind === "ended" ? { ...end, stdout: [Buffer.concat(end.stdout)] } : end };
  process.send?.(told);
}

process.on("SIGINT", () => undefined);
process.on("message", (call: DelegatedCall) => void answer(call));
process.on("disconnect", () => process.exit());
