import { type Flow, literal, OUTPUT, originOf } from "./flow.ts";
import { type Text, textOf } from "./text.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  '"': '"',
  "'": "'",
};

const ESCAPE = /\\(?:(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8})|(0?[0-7]{1,3})|.)/gs;

/** Backslashes as `printf` and `echo -e` read them. */
export function unescaped(whole: string): string {
  // Nothing is printed behind `\c`.
  const [text = ""] = /^(?:[^\\]|\\[^c])*/s.exec(whole) ?? [];
  return text.replace(ESCAPE, (all: string, hex?: string, octal?: string) => {
    if (hex !== undefined) return codePoint(Number.parseInt(hex.slice(1), 16));
    if (octal !== undefined) return codePoint(Number.parseInt(octal, 8) & 0xff);
    return ESCAPES[all.slice(1)] ?? all;
  });
}

const codePoint = (code: number): string => (code > 0x10ffff ? "" : String.fromCodePoint(code));

/** What is printed of texts: themselves, where all are known. */
function flowOf(texts: readonly Text[], print: (texts: string[]) => string): Flow {
  if (texts.every((text) => text.type === "known")) return literal(print(texts.map(textOf)));
  let from = 0;
  for (const text of texts) from |= originOf(text);
  const names = texts.length === 1 ? texts[0] : undefined;
  // What the format, or backslashes, make of it is not followed.
  if (names?.type === "glob") return { from, names: [{ type: "glob", text: names.text }] };
  return { from, names: names && names.type !== "known" ? [names] : undefined };
}

export function echoed(args: readonly Text[]): Flow {
  let rest = args;
  let [escapes, ends] = [false, true];
  while (rest[0]?.type === "known" && /^-[neE]+$/.test(rest[0].text)) {
    escapes ||= rest[0].text.includes("e");
    ends &&= !rest[0].text.includes("n");
    rest = rest.slice(1);
  }
  return flowOf(rest, (texts) => {
    const line = texts.join(" ") + (ends ? "\n" : "");
    return escapes ? unescaped(line) : line;
  });
}

/** What takes a width from an argument, cuts a text, or prints a date. */
const NOT_FOLLOWED = /%(?![-+ #]*\d*(?:[sbq]|(?:\.\d+)?[diuoxXeEfFgGaA]))/;

export function printedByFormat(args: readonly Text[]): Flow {
  const [start] = args;
  if (start?.type === "known" && NOT_FOLLOWED.test(start.text.replaceAll("%%", ""))) return OUTPUT;
  return flowOf(args, ([format = "", ...values]) => {
    const made: string[] = [];
    let rest = values;
    do {
      made.push(formatted(format, rest));
      rest = rest.slice(Math.max(1, format.match(/%[^%]/g)?.length ?? 0));
    } while (rest.length > 0 && /%[^%]/.test(format));
    return made.join("");
  });
}

function formatted(format: string, values: readonly string[]): string {
  let at = 0;
  return format.replace(
    /%(?:%|[-+ #0]*(?:[1-9]\d*)?(?:\.\d+)?([a-zA-Z]))|\\(?:x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|.)/gs,
    (all, kind?: string) => {
      if (all.startsWith("\\")) return unescaped(all);
      if (kind === undefined) return "%";
      const value = values[at] ?? "";
      at += 1;
      if (kind === "b") return unescaped(value);
      return value;
    },
  );
}
