import { blocksOf, nextLine } from "../markdown/blocks.ts";
import { hasTodoSection, parsePlan } from "../markdown/markdown.ts";
import { plainText } from "../markdown/plain-text.ts";
import { isLabel } from "./labels.ts";

/** What a text that was not written for prloom begins with. */
export interface Beginning {
  /** Its title, where it has no heading for it. */
  readonly title?: string;
  /** The text without what was taken from it. */
  readonly rest: string;
  /** The keys of its YAML front matter, which is about the file and no part of the plan. */
  readonly frontMatter: readonly string[];
}

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n((?:[^\n]*\n){1,100}?)---[ \t]*(?:\r?\n|$)/;
const KEY = /^([A-Za-z_][\w-]*):(?:[ \t]|$)/;
/** As YAML goes on with a value, or says nothing. */
const GOES_ON = /^(?:[ \t]|-[ \t]|#|$)/;

/** Longer first lines are sentences. */
const MAX_TITLE = 80;

/** The first line is a title only where there is no other: it may as well be "Hi everyone". */
export function beginningOf(text: string, { hasTitle = false } = {}): Beginning {
  const doc = parsePlan(text);
  if (doc.tooLarge !== undefined || hasTodoSection(doc)) return { rest: text, frontMatter: [] };
  const { values, rest } = withoutFrontMatter(text);
  const frontMatter = [...values.keys()];
  if (parsePlan(rest).title !== undefined) return { rest, frontMatter };
  const title = values.get("title");
  if (title !== undefined && title !== "") return { title, rest, frontMatter };
  const first = hasTitle ? undefined : firstLine(rest);
  return first ? { ...first, frontMatter } : { rest, frontMatter };
}

function withoutFrontMatter(text: string): { readonly values: ReadonlyMap<string, string>; readonly rest: string } {
  const [whole = "", inner = ""] = FRONT_MATTER.exec(text) ?? [];
  const lines = inner.split(/\r?\n/);
  const isYaml = KEY.test(lines[0] ?? "") && lines.every((line) => KEY.test(line) || GOES_ON.test(line));
  if (!isYaml) return { values: new Map(), rest: text };
  const pairs = lines.flatMap((line): [string, string][] => {
    const key = KEY.exec(line);
    return key
      ? [
          [
            key[1] ?? "",
            line
              .slice(key[0].length)
              .trim()
              .replace(/^(["'])(.*)\1$/, "$2"),
          ],
        ]
      : [];
  });
  return { values: new Map(pairs), rest: text.slice(whole.length) };
}

/** A line by itself above everything else that is not a sentence. */
function firstLine(text: string): { readonly title: string; readonly rest: string } | undefined {
  const [first, next] = blocksOf(text);
  if (first?.type !== "paragraph" || first.line !== first.endLine || !next) return undefined;
  // It names what follows: a list, or a part of the text.
  if (next.type === "list" || isLabel(first, text)) return undefined;
  const title = plainText(text.slice(first.start, first.end)).trim();
  if (title === "" || title.length > MAX_TITLE || /[.:;,!。：，！]$/.test(title)) return undefined;
  // A link or a picture alone is none, and neither is what looks like a box.
  if (/^[[!<(-]|https?:\/\//.test(text.slice(first.start, first.end))) return undefined;
  return { title, rest: text.slice(nextLine(text, first.end)).replace(/^(?:[ \t]*\r?\n)+/, "") };
}
