import { asFields, isFields, type JsonFields, ownJsonIn } from "../../kernel/json-fields.ts";

/** What one line of a program that prints JSON turned out to be. */
export type JsonLine =
  | { readonly kind: "object"; readonly value: JsonFields }
  | { readonly kind: "text"; readonly text: string }
  /** The beginning or middle of a line that was too long to come in one piece. */
  | { readonly kind: "part" };

/** Lines of this length may have been cut by `outputLines`, which hands on longer ones in parts. */
const CUT_FROM = 64 * 1024;
/** What is longer than this is not kept in memory to be understood. */
const MAX_LENGTH = 16 * 1024 * 1024;

const PART: JsonLine = { kind: "part" };

/** Understands the lines of one run, and puts those together again that came in parts. */
export function jsonLines(): (line: string) => JsonLine {
  let parts: string[] = [];
  let held = 0;
  let outline = new Outline();
  const whole = (line: string): JsonLine => {
    const isLong = parts.length > 0 || line.length >= CUT_FROM;
    if (isLong) outline.add(line);
    const text = (): string => [...parts, line].join("");
    const value = line.trimEnd().endsWith("}") && (!isLong || outline.isObject()) ? objectIn(text()) : undefined;
    if (value === undefined && line.length >= CUT_FROM && held + line.length <= MAX_LENGTH) {
      parts.push(line);
      held += line.length;
      return PART;
    }
    const read: JsonLine = value === undefined ? { kind: "text", text: text() } : { kind: "object", value };
    parts = [];
    held = 0;
    outline = new Outline();
    return read;
  };
  return (line) => (parts.length > 0 || line.trimStart().startsWith("{") ? whole(line) : { kind: "text", text: line });
}

/** What is long is so by its texts. Of so many small values each step takes seconds, from parsing to writing them down. */
const MAX_VALUES = 200_000;
const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = "\\".charCodeAt(0);
const COMMA = ",".charCodeAt(0);
const [OPENING, CLOSING] = ["[{", "]}"].map((marks) => new Set([...marks].map((mark) => mark.charCodeAt(0))));

/** Looks once at each character of a long line, whatever its parts are: to parse it at the end of each would take minutes. */
class Outline {
  #depth = 0;
  #values = 0;
  #isString = false;
  #isEscaped = false;

  add(part: string): void {
    for (let at = 0; at < part.length; at += 1) {
      const code = part.charCodeAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === QUOTE) this.#isString = !this.#isString;
      else if (this.#isString) this.#isEscaped = code === BACKSLASH;
      else if (code === COMMA) this.#values += 1;
      else if (CLOSING?.has(code)) this.#depth -= 1;
      else if (OPENING?.has(code)) {
        this.#depth += 1;
        this.#values += 1;
      }
    }
  }

  /** Whether it may be a whole object, and one that can be worked with. */
  isObject(): boolean {
    return this.#depth === 0 && !this.#isString && this.#values <= MAX_VALUES;
  }
}

/** What a tool is given may be nested so deeply that writing it down again would overflow the stack. */
const MAX_DEPTH = 200;

function objectIn(text: string): JsonFields | undefined {
  const value = ownJsonIn(text);
  if (!isFields(value)) return undefined;
  return isDeeper(value, MAX_DEPTH) ? asFields(shallow(value, MAX_DEPTH)) : value;
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((item) => isDeeper(item, depth - 1));
}

/** The value down to a depth; what lies below is left out, and said to be. */
function shallow(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return "… (nested too deeply)";
  if (Array.isArray(value)) return value.map((item) => shallow(item, depth - 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shallow(item, depth - 1)]));
}
