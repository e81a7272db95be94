import { join } from "node:path";
import * as z from "zod";
import { PrloomError } from "../../kernel/errors.ts";
import { ensureDir, readTextIfExists, writeFileAtomic } from "../../kernel/files.ts";
import { homeOf, type Paths } from "../paths.ts";

const messageSchema = z.strictObject({
  /** Of the event that brought it. */
  id: z.string(),
  author: z.string(),
  at: z.string(),
  text: z.string(),
  /** The run that it was given to; absent: it waits. */
  given: z
    .strictObject({
      run: z.int().min(1),
      how: z.enum(["live", "next-turn"]),
      heard: z.boolean(),
      /** An earlier run heard it and was cut off; this is the conversation that `run` goes on with. */
      carriedIn: z.string().exactOptional(),
    })
    .exactOptional(),
  /** It is in the conversation for good. */
  delivered: z.literal(true).exactOptional(),
});
export type KeptMessage = z.infer<typeof messageSchema>;

const fileSchema = z.strictObject({ schemaVersion: z.literal(1), messages: z.array(messageSchema) });

/** What was delivered long ago is on the bus; here it would only make the file grow. */
const MAX_DELIVERED = 100;

function fileOf(paths: Paths, planId: string): string {
  return join(homeOf(paths, planId).home, "messages.json");
}

/** The messages to a plan's agent, oldest first. */
export function readMessageFile(paths: Paths, planId: string): KeptMessage[] {
  const file = fileOf(paths, planId);
  const text = readTextIfExists(file);
  if (text === undefined) return [];
  try {
    return fileSchema.parse(JSON.parse(text)).messages;
  } catch (error) {
    throw new PrloomError(
      "state-unreadable",
      `${file} cannot be read: it holds what people sent to the plan's agent.`,
      `Fix it, or move it away and send again what matters (\`prloom events ${planId}\` has the words).`,
      error,
    );
  }
}

/** Replaces the file wholly or not at all. */
export function writeMessageFile(paths: Paths, planId: string, messages: readonly KeptMessage[]): void {
  const old = new Set(
    messages
      .filter(({ delivered }) => delivered)
      .slice(0, -MAX_DELIVERED)
      .map(({ id }) => id),
  );
  const kept = messages.filter(({ id }) => !old.has(id));
  ensureDir(homeOf(paths, planId).home);
  writeFileAtomic(fileOf(paths, planId), `${JSON.stringify({ schemaVersion: 1, messages: kept }, null, 2)}\n`, 0o600);
}
