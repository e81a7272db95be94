import type { Text } from "./values/text.ts";

/** What a command does, as far as it matters for what it may do. */
export type EffectKind =
  | "reads"
  | "writes"
  | "deletes"
  /** Starts a program or a script that cannot be looked into. */
  | "runs"
  | "fetches"
  /** Gives bytes of this machine to another one. */
  | "sends"
  /** Loses or rewrites commits, or work that is not committed. */
  | "history"
  | "privilege"
  /** Harms the machine as a whole. */
  | "system"
  /** Changes prloom, or what it decides with. */
  | "ours"
  /** Starts another agent. */
  | "agent"
  /** Runs code that stands in the command, or came from elsewhere. */
  | "code"
  /** Cannot be told. */
  | "unknown";

export interface Effect {
  readonly kind: EffectKind;
  /** For people: one clause, with the thing that is affected. */
  readonly what: string;
  /** Absolute, with `.` and `..` resolved, where one is concerned. */
  readonly path?: Text | undefined;
  /** Of deletions and changes of rights: everything below it, too. */
  readonly whole?: boolean | undefined;
  /** Of deletions: where it is a link, that goes, and not what it leads to. */
  readonly itself?: boolean | undefined;
  /** The path as it was written, where it goes up: what `..` means then depends on links. */
  readonly upward?: string | undefined;
  /** Of code that stands in the command itself: the interpreter that is given it. */
  readonly interpreter?: string | undefined;
  /** What to do instead, where the program knows it. */
  readonly instead?: string | undefined;
}

/** A command as it was written, what it does by itself, and the commands in it. */
export interface EffectTree {
  readonly command: string;
  readonly effects: Effect[];
  readonly inner: EffectTree[];
}

export function* allEffects(tree: EffectTree): Generator<Effect> {
  yield* tree.effects;
  for (const one of tree.inner) yield* allEffects(one);
}
