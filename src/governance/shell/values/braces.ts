const MAX_WORDS = 64;
const MAX_SOURCE = 1000;

/** What `{a,b}` and `{1..3}` in the source of a word make of it; undefined when that is too much. */
export function expandBraces(source: string): string[] | undefined {
  if (source.length > MAX_SOURCE) return undefined;
  const found = firstBraces(source);
  if (!found) return [source];
  const [start, end, choices] = found;
  const made: string[] = [];
  for (const choice of choices) {
    const rest = expandBraces(`${choice}${source.slice(end)}`);
    if (!rest || made.length + rest.length > MAX_WORDS) return undefined;
    made.push(...rest.map((one) => source.slice(0, start) + one));
  }
  return made;
}

/** The first braces that are ones to the shell: unquoted, with a comma or a range in them. */
function firstBraces(source: string): [start: number, end: number, choices: string[]] | undefined {
  for (let at = 0; at < source.length; at += 1) {
    const skipped = afterQuoted(source, at);
    if (skipped > at) {
      at = skipped - 1;
      continue;
    }
    if (source[at] !== "{") continue;
    const inside = readBraces(source, at);
    if (inside) return [at, inside.end, inside.choices];
  }
  return undefined;
}

function readBraces(source: string, start: number): { end: number; choices: string[] } | undefined {
  const choices = [""];
  for (let at = start + 1, depth = 0; at < source.length; at += 1) {
    const skipped = afterQuoted(source, at);
    if (skipped > at) {
      choices[choices.length - 1] += source.slice(at, skipped);
      at = skipped - 1;
      continue;
    }
    const char = source[at] as string;
    if (char === "}" && depth === 0) {
      const range = choices.length === 1 ? rangeOf(choices[0] as string) : undefined;
      if (range) return { end: at + 1, choices: range };
      return choices.length > 1 ? { end: at + 1, choices } : undefined;
    }
    if (char === "," && depth === 0) {
      choices.push("");
      continue;
    }
    if (char === "{") depth += 1;
    if (char === "}") depth -= 1;
    choices[choices.length - 1] += char;
  }
  return undefined;
}

function rangeOf(text: string): string[] | undefined {
  const found = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?$/.exec(text);
  if (!found) return undefined;
  const [, first = "", last = "", by = "1"] = found;
  const isNumber = /\d/.test(first);
  if (isNumber !== /\d/.test(last)) return undefined;
  const [from, to] = isNumber ? [Number(first), Number(last)] : [first.charCodeAt(0), last.charCodeAt(0)];
  const step = Math.max(1, Math.abs(Number(by)));
  const made: string[] = [];
  for (let count = 0; count <= Math.abs(to - from) && made.length <= MAX_WORDS; count += step) {
    const value = from < to ? from + count : from - count;
    made.push(isNumber ? String(value) : String.fromCharCode(value));
  }
  return made;
}

/** Where something quoted, escaped or substituted ends that begins here; the same place when none does. */
function afterQuoted(source: string, at: number): number {
  const char = source[at];
  if (char === "\\") return Math.min(at + 2, source.length);
  if (char === "'" || char === '"' || char === "`") return endOf(source, at + 1, char);
  if (char === "$" && (source[at + 1] === "{" || source[at + 1] === "(")) {
    return endOf(source, at + 2, source[at + 1] === "{" ? "}" : ")");
  }
  return at;
}

function endOf(source: string, from: number, closing: string): number {
  for (let at = from; at < source.length; at += 1) {
    if (source[at] === "\\" && closing !== "'") at += 1;
    else if (source[at] === closing) return at + 1;
    else if (closing !== "'") {
      const skipped = closing === '"' && source[at] === "'" ? at : afterQuoted(source, at);
      if (skipped > at) at = skipped - 1;
    }
  }
  return source.length;
}
