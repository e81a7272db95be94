/** What a script of sed does besides changing what passes through it. */
export interface SedEffects {
  readonly writes: string[];
  readonly reads: string[];
  runs: boolean;
}

const ADDRESS = /^(?:(?:\d|[*\u{FFFC}](?=.))+(?:~\d+)?|\$|[+~]\d+)/u;
const PLAIN = "dDgGhHlnNpPqQxzF=v}";

/** Reads a script; undefined when it is not one that is known. */
export function readSed(script: string): SedEffects | undefined {
  const found: SedEffects = { writes: [], reads: [], runs: false };
  // Versions differ about a delimiter in brackets: what either of them does counts.
  const isRead = readWith(script, { found, sets: true });
  const isReadOtherwise = script.includes("[") ? readWith(script, { found, sets: false }) : isRead;
  return isRead || isReadOtherwise ? found : undefined;
}

interface Reading {
  readonly found: SedEffects;
  /** Whether a delimiter in brackets is plain. */
  readonly sets: boolean;
}

function readWith(script: string, reading: Reading): boolean {
  let rest = script;
  while (rest !== "") {
    const next = afterCommand(afterAddresses(rest.replace(/^[\s;]+/, ""), reading), reading);
    if (next === undefined) return false;
    rest = next;
  }
  return true;
}

/** Skips `1,5`, `/a/,/b/I`, `\,a,` and `!`; undefined when one does not end. */
function afterAddresses(text: string, reading: Reading): string | undefined {
  let rest = text;
  for (let more = true; more; ) {
    more = false;
    const found = ADDRESS.exec(rest);
    if (found) rest = rest.slice(found[0].length);
    else if (rest[0] === "/" || rest[0] === "\\") {
      const after = afterDelimited(rest[0] === "/" ? rest : rest.slice(1), 1, reading);
      if (after === undefined) return undefined;
      rest = after.replace(/^[IM]+/, "");
    }
    const comma = /^\s*,\s*/.exec(rest);
    if (comma) {
      rest = rest.slice(comma[0].length);
      more = true;
    }
  }
  return rest.replace(/^[\s!]+/, "");
}

/** What is behind some parts that a character ends each: `/a/b/` has two. */
function afterDelimited(text: string, parts: number, { sets }: Reading): string | undefined {
  const [delimiter] = text;
  let left = parts;
  let inSet = false;
  for (let at = 1; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\\") at += 1;
    else if (inSet) inSet = char !== "]";
    else if (sets && char === "[" && left === parts) inSet = isSet(text, at);
    else if (char === delimiter) {
      left -= 1;
      if (left === 0) return text.slice(at + 1);
    }
  }
  return undefined;
}

/** A bracket that is closed again before the line ends: only in these a delimiter is plain. */
const isSet = (text: string, at: number): boolean => text.indexOf("]", at + 2) > 0;

function afterCommand(text: string | undefined, reading: Reading): string | undefined {
  if (text === undefined || text === "") return text;
  const { found } = reading;
  const [command = ""] = text;
  const rest = text.slice(1);
  const [line = ""] = rest.split("\n", 1);
  const afterLine = rest.slice(line.length);
  if (command === "{") return rest;
  if (command === "#" || command === "a" || command === "i" || command === "c") return afterText(rest);
  if (command === "w" || command === "W") found.writes.push(line.trim());
  else if (command === "r" || command === "R") found.reads.push(line.trim());
  else if (command === "e") found.runs = true;
  else if (command === "s") return afterSubstitution(rest, reading);
  else if (command === "y") return afterDelimited(rest, 2, reading);
  else if (":btT".includes(command)) return rest.replace(/^[^;\n}]*/, "");
  else if (PLAIN.includes(command)) return rest.replace(/^\s*\d*/, "");
  else return undefined;
  return afterLine;
}

/** Text that is put in goes to the end of a line that does not end with a backslash. */
const afterText = (rest: string): string => rest.replace(/^(?:\\\n|\\.|\\$|[^\n\\])*/s, "");

function afterSubstitution(text: string, reading: Reading): string | undefined {
  const { found } = reading;
  const rest = afterDelimited(text, 2, reading);
  if (rest === undefined) return undefined;
  const flags = /^[gpiImMe\d]*/.exec(rest)?.[0] ?? "";
  if (flags.includes("e")) found.runs = true;
  const behind = rest.slice(flags.length);
  if (!behind.startsWith("w")) return behind;
  const [line = ""] = behind.slice(1).split("\n", 1);
  found.writes.push(line.trim());
  return behind.slice(1 + line.length);
}
