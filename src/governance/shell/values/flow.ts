import { addChoice, known, MAX_CHOICES, MAX_TEXT, type Text } from "./text.ts";

/** Where bytes come from, as bits. */
export const FROM = {
  network: 1,
  decoded: 2,
  secret: 4,
  files: 8,
  program: 16,
  /** Numbers of processes that are prloom's or an agent's. */
  agents: 32,
  /** Files that are neither in the worktree nor temporary: no review sees them. */
  outside: 64,
} as const;

/** What goes through a pipe, lies in a file, or is printed. */
export interface Flow {
  /** The bytes themselves, where they are known. */
  readonly text?: string | undefined;
  /** One name a line, where that is what it is: each is one of these. */
  readonly names?: readonly Text[] | undefined;
  /** What each line begins with, before a colon, where that is a name: one of these. */
  readonly sources?: readonly Text[] | undefined;
  /** Whole contents, of which it is one. */
  readonly either?: readonly Flow[] | undefined;
  readonly from: number;
}

/** What is in a file, as far as this line wrote it. */
export interface FileContent extends Flow {
  /** The paths of which one has it, where the folder was not sure. */
  readonly among?: string | undefined;
  /** What that one has. */
  readonly last?: Flow | undefined;
}

export const NOTHING: Flow = { text: "", from: 0 };
export const OUTPUT: Flow = { from: FROM.program };
/** What is typed: nothing was piped in. Compared by identity. */
export const TERMINAL: Flow = { from: FROM.program };

export const literal = (text: string): Flow => ({ text, from: 0 });
export const cameFrom = (from: number): Flow => ({ from });

export function joinFlows(flows: readonly Flow[]): Flow {
  const some = flows.filter((flow) => flow.text !== "");
  const [only] = some;
  if (some.length === 1 && only) return only;
  let from = 0;
  for (const flow of some) from |= flow.from;
  let length = 0;
  for (const flow of some) length += flow.text?.length ?? MAX_TEXT;
  const text = length < MAX_TEXT ? some.map((flow) => flow.text).join("") : undefined;
  if (text !== undefined) return { text, from };
  const names = some.map(
    (flow) =>
      flow.names ??
      flow.text
        ?.split("\n", MAX_CHOICES + 1)
        .filter(Boolean)
        .map(known),
  );
  const all = names.flatMap((list) => list ?? []);
  return { from, names: names.includes(undefined) ? undefined : addChoice([], all) };
}

/** What may be printed, or not: lines are names then, of which each is one. With `mayBeNone` something else is not printed in its place. */
export function perhaps(flow: Flow, mayBeNone = true): Flow {
  if (flow.text === undefined || flow.text === "") return flow;
  // What stands behind it may be printed into the same line.
  if (!/^\S+\n$/.test(flow.text)) return cameFrom(flow.from);
  return { from: flow.from, names: [known(flow.text.slice(0, -1)), ...(mayBeNone ? [known("")] : [])] };
}

/** One of them, as a command prints that can be one of several: names stay names. */
export function oneOfFlows(flows: readonly Flow[]): Flow {
  if (!flows.every((flow) => flow.names ?? /^\S*\n?$/.test(flow.text ?? " "))) return joinFlows(flows);
  const names = addChoice([], flows.flatMap(textsOfFlow));
  return names.length === 1 ? (flows[0] as Flow) : { from: joinFlows(flows).from, names };
}

/** One of several contents, whole: what runs it runs any of them. */
export function eitherFlow(flows: readonly Flow[]): Flow {
  const all: Flow[] = [];
  for (const flow of flows.flatMap((one) => one.either ?? [one]))
    if (
      !all.some(
        (other) => other === flow || (flow.text !== undefined && other.text === flow.text && other.from === flow.from),
      )
    )
      all.push(flow);
  const [only] = all;
  if (only && all.length === 1) return only;
  let from = 0;
  for (const flow of all) from |= flow.from;
  const isNamed = all.every((flow) => flow.names ?? /^\S*\n?$/.test(flow.text ?? " "));
  return { from, names: isNamed ? addChoice([], all.flatMap(textsOfFlow)) : undefined, either: all };
}

/** The same bytes changed in a way that is not followed: of nothing, `awk 'BEGIN {…}'` makes something. */
export function changed(flow: Flow): Flow {
  return { from: flow.from | FROM.program };
}

/** Some of its lines, as they are. */
export function someOf(flow: Flow): Flow {
  return flow.text === "" ? NOTHING : { ...flow, text: undefined, either: undefined, from: flow.from | FROM.program };
}

/** What stands before the first colon of each line. */
export function beforeColon(flow: Flow): Flow | undefined {
  return flow.sources && { from: flow.from | FROM.program, names: flow.sources };
}

/** What `$(…)` makes of it: one text, or each of the names in it. */
export function textsOfFlow(flow: Flow): readonly Text[] {
  if (flow.text !== undefined) return [known(flow.text.replace(/(?<!\n)\n+$/, ""))];
  return flow.names ?? [{ type: "unknown", why: describeFlow(flow), from: flow.from }];
}

export function textOfFlow(flow: Flow): Text {
  const [only, ...more] = textsOfFlow(flow);
  return only && more.length === 0 ? only : { type: "unknown", why: describeFlow(flow), from: flow.from };
}

/** Where the bytes of a text come from. */
export function originOf(text: Text): number {
  if (text.type === "known") return 0;
  return (text.type === "unknown" ? text.from : 0) || FROM.program;
}

function describeFlow(flow: Flow): string {
  if (flow.from & FROM.network) return "it comes from the network";
  if (flow.from & FROM.decoded) return "it is decoded";
  if (flow.from & FROM.secret) return "it comes from a secret";
  return flow.from & FROM.files ? "it comes from a file" : "it is what a program prints";
}
