import type { Redirection, Word, WordPart } from "unbash";
import { contentOf, deliverBytes, descriptorOf, isLoopback, networkPlace, writes } from "./paths.ts";
import {
  type Channel,
  copyForReading,
  copyShell,
  noteEffect,
  noteUnknown,
  type Sink,
  type Spot,
  sizeOf,
  spend,
} from "./state/state.ts";
import { cameFrom, type Flow, FROM, literal, oneOfFlows, originOf } from "./values/flow.ts";
import { lookAtCommands } from "./values/hidden-commands.ts";
import { describeText, known, type Text, textOf, unknown } from "./values/text.ts";

export interface Redirected {
  readonly input: Flow;
  readonly output: Sink;
}

/** How words become strings is passed in: redirections contain words, and words contain redirections. */
export interface WordExpanding {
  string(word: Word, spot: Spot): Text[];
  parts(parts: readonly WordPart[], spot: Spot): Text;
}

const OUTPUT: Sink = { to: "output" };

/** Opens what the redirections of one command name. With `keeps` the shell itself keeps them open, as after `exec`. */
export function redirect(
  redirects: readonly Redirection[],
  spot: Spot,
  { words, keeps }: { words: WordExpanding; keeps: boolean },
): Redirected {
  let { input } = spot;
  let output = spot.shell.channels.get("1")?.writes ?? OUTPUT;
  for (const one of redirects) {
    spend(spot);
    const { key, isBoth } = descriptor(one);
    for (const channel of channelsOf(one, { ...spot, input }, { words, output })) {
      if (key === "0" && channel.reads) input = channel.reads;
      if ((key === "1" || isBoth) && channel.writes) output = channel.writes;
      if (keeps || (key !== "0" && key !== "1" && key !== "2")) keep(key, channel, spot);
      if (key.startsWith("{"))
        spot.shell.variables.set(key.slice(1, -1), [key === "{IFS}" ? unknown("it is a number") : known(key)]);
      // What is reported there is not followed, but may be run later.
      if (key !== "1" && channel.writes && !isBoth) deliverBytes(cameFrom(FROM.program), channel.writes, spot);
    }
  }
  return { input, output };
}

/** What was opened with `exec <` is read instead of what was piped in before, but not behind a later pipe. */
export function afterExec(spot: Spot): Spot {
  const opened = spot.shell.channels.get("0")?.reads;
  return opened ? { ...spot, input: cameFrom(opened.from | spot.input.from | FROM.program) } : spot;
}

/** A descriptor that is opened twice leads to both: which one was last may depend on a condition. */
function keep(key: string, channel: Channel, { shell }: Spot): void {
  const before = shell.channels.get(key);
  const isWorse = before?.writes?.to === "network" && channel.writes?.to !== "network";
  const opened = isWorse ? before.writes : channel.writes;
  // Each command that writes into it goes on where the one before has ended.
  shell.channels.set(key, { ...channel, writes: opened?.to === "file" ? { ...opened, appends: true } : opened });
}

function descriptor(one: Redirection): { key: string; isBoth: boolean } {
  const isInput = one.type !== "Redirect" || one.operator.startsWith("<");
  const isBoth = one.type === "Redirect" && (one.operator === "&>" || one.operator === "&>>");
  const given = one.descriptor;
  if (given?.type === "FileDescriptorVariable") return { key: `{${given.name}}`, isBoth };
  return { key: given ? String(given.value) : isInput ? "0" : "1", isBoth };
}

/** How words become strings, and where the output of the command goes by now. */
interface Opening {
  readonly words: WordExpanding;
  readonly output: Sink;
}

/** In a here-document, a backslash is one before these characters, and joins lines. */
const unescaped = (body: string): string => body.replace(/\\([$`\\]|\n)/g, (_, next) => (next === "\n" ? "" : next));

const flowOf = (text: Text): Flow => (text.type === "known" ? literal(`${text.text}\n`) : cameFrom(originOf(text)));

function channelsOf(one: Redirection, spot: Spot, { words, output }: Opening): Channel[] {
  if (one.type === "HereDoc") {
    const plain = one.delimiter?.quoted ? one.body.text : unescaped(one.body.text);
    const text = one.body.parts ? words.parts(one.body.parts, spot) : known(plain);
    return [{ reads: text.type === "known" ? literal(text.text) : cameFrom(originOf(text)) }];
  }
  if (!one.target) return [];
  const targets = words.string(one.target, spot);
  if (one.type === "HereString") return [{ reads: oneOfFlows(targets.map((text) => flowOf(text))) }];
  return targets.flatMap((path) => opened({ operator: one.operator, path }, spot, output));
}

function opened({ operator, path }: { operator: string; path: Text }, spot: Spot, output: Sink): Channel[] {
  if (operator === "<&" || operator === ">&") {
    const key = path.type === "known" ? path.text.replace(/-$/, "") : undefined;
    if (key === "") return [];
    if (key !== undefined && /^(?:\d+|\{\w+\})$/.test(key)) return [duplicate(key, spot, output)];
    // The shell expands this name a second time.
    lookAtCommands(textOf(path), spot);
    if (operator === "<&" || path.type !== "known") {
      noteUnknown(spot, `uses a descriptor that is not known: ${describeText(path)}`);
      return [{ reads: cameFrom(FROM.network) }];
    }
  }
  if (operator === "<") return [{ reads: contentOf(path, spot) }];
  const sink = sinkOf(path, spot, operator.endsWith(">>"));
  return operator === "<>" ? [{ reads: contentOf(path, spot), writes: sink }] : [{ writes: sink }];
}

/** A connection that is written to is read from as well. */
function duplicate(key: string, { shell, input }: Spot, output: Sink): Channel {
  if (key === "0") return { reads: input };
  if (key !== "1" && key !== "2") return shell.channels.get(key) ?? {};
  const writes = key === "1" ? output : (shell.channels.get(key)?.writes ?? OUTPUT);
  return writes.to === "network" ? { writes, reads: cameFrom(FROM.network) } : { writes };
}

function sinkOf(path: Text, spot: Spot, appends: boolean): Sink {
  const place = networkPlace(path);
  if (place !== undefined) {
    // Whatever is written there leaves, and a check of a port needs no more than to read from it.
    noteEffect(spot, { kind: isLoopback(place) ? "fetches" : "sends", what: `connects to ${place}, to write there` });
    return { to: "network", where: place };
  }
  if (path.type === "known") {
    if (path.text === "/dev/null") return { to: "nowhere" };
    const key = descriptorOf(path.text);
    if (key !== undefined) return spot.shell.channels.get(key)?.writes ?? OUTPUT;
  }
  writes(spot, path);
  return { to: "file", path, appends };
}

let processes = 0;

/** `<(…)` and `>(…)`: a name under which something can be read or written. */
export function openProcess(part: Extract<WordPart, { type: "ProcessSubstitution" }>, spot: Spot): Text {
  spend(spot, sizeOf(spot.shell));
  processes = (processes + 1) % 1_000_000;
  const key = `process-${processes}`;
  if (!part.script) return known(`/dev/fd/${key}`);
  spot.line.isReordered = true;
  const isRead = part.operator === "<";
  const shell = isRead ? copyForReading(spot.shell) : copyShell(spot.shell);
  const inside: Spot = { ...spot, shell, isForked: true };
  if (isRead) {
    spot.shell.channels.set(key, { reads: spot.line.engine.runScript(part.script, inside) });
  } else {
    // What will be written to it is not known yet; it is judged as if it were the worst.
    const input = cameFrom(FROM.network | FROM.program);
    spot.line.engine.runScript(part.script, { ...inside, input });
    spot.shell.channels.set(key, { writes: OUTPUT });
  }
  return known(`/dev/fd/${key}`);
}
