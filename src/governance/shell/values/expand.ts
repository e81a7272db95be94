import type { ParameterExpansionPart, Word, WordPart } from "unbash";
import { parseShell } from "../parse.ts";
import { openProcess } from "../redirect.ts";
import { copyForReading, type Line, type Shell, type Spot, spend } from "../state/state.ts";
import { lookAtArithmetic } from "./arithmetic.ts";
import { expandBraces } from "./braces.ts";
import { textsOfFlow } from "./flow.ts";
import { alternatives } from "./glob.ts";
import { lookAtCommands, lookAtQuotes } from "./hidden-commands.ts";
import { joinWords } from "./join-words.ts";
import { parameterText, variableTexts } from "./parameters.ts";
import { aNumber, combinations, joinLine, joinTexts, known, type Text, unknown } from "./text.ts";

/** The lists of words that some words can become: one for each way. */
export function expandWords(words: readonly Word[], spot: Spot): Text[][] {
  const plain = plainTexts(words, spot);
  if (plain) {
    spend(spot, words.length);
    return [plain];
  }
  const choices = joinWords(words).map((word) => expandWord(word, spot));
  const all = combinations(choices);
  if (all) return all.map((list) => list.flat());
  // Too many ways: of each word it is only known that it is one of several.
  return [words.map(() => unknown("it can be too many things"))];
}

/** The fields that one word can become. */
export function expandWord(word: Word, spot: Spot): Text[][] {
  spend(spot, 1 + (word.parts?.length ?? 0));
  const plain = plainText(word, spot);
  if (plain) return [[plain]];
  if (word.parts?.some((part) => part.type === "BraceExpansion")) return expandBraced(word, spot);
  if (!word.parts) return [];
  const parts = word.parts.map((part, at) => partTexts(part, spot, at === 0));
  const all = combinations(parts);
  if (!all) return [[unknown("it can be too many things")]];
  const ways = all.map((pieces) => fieldsOf(pieces, spot));
  // Lists could be doubled with each use.
  for (const fields of ways) spend(spot, fields.length >> 3);
  return ways;
}

/** One string: for assignments, redirections and here-documents, where nothing is split. */
export function expandString(word: Word, spot: Spot): Text[] {
  spend(spot, 1 + (word.parts?.length ?? 0));
  const plain = plainText(word, spot);
  if (plain || !word.parts) return plain ? [plain] : [];
  const all = combinations(word.parts.map((part, at) => partTexts(part, spot, at === 0)));
  if (!all) return [unknown("it can be too many things")];
  return all.map((pieces) => joinTexts(pieces.flatMap((piece) => piece.texts)));
}

export function expandParts(parts: readonly WordPart[], spot: Spot): Text {
  spend(spot, parts.length);
  const all = combinations(parts.map((part) => partTexts(part, spot, false)));
  const [only] = all ?? [];
  if (all?.length !== 1 || !only) return unknown("it can be several things");
  return joinTexts(only.flatMap((piece) => piece.texts));
}

/** Part of a word; `splits` when spaces in it divide the word. */
interface Piece {
  readonly texts: readonly Text[];
  readonly splits: boolean;
}

const whole = (text: Text): Piece => ({ texts: [text], splits: false });

/** Undefined when one of them is not plain. */
function plainTexts(words: readonly Word[], spot: Spot): Text[] | undefined {
  const texts: Text[] = [];
  for (const word of words) {
    const text = plainText(word, spot);
    if (!text) return undefined;
    texts.push(text);
  }
  return texts;
}

/** Bash expands it behind what looks like an assignment, `of=~/x`; npm and pip do so themselves behind an option, `--prefix=~/x`. */
const TILDE = /^([\w-]+\+?=)?~([^/]*)(?=\/|$)/;
const startsWithTilde = (text: string): boolean => text.includes("~") && TILDE.test(text);

/** A word in which nothing is expanded but a tilde: most are that, and quotes change nothing about it. */
function plainText(word: Word, spot: Spot): Text | undefined {
  const { parts } = word;
  const hasTilde = startsWithTilde(word.text);
  if (!parts) return hasTilde ? tilde(word.value, spot, true) : known(word.value);
  return !hasTilde && parts.every(isLiteral) ? known(word.value) : undefined;
}

function isLiteral(part: WordPart): boolean {
  if (part.type === "DoubleQuoted") return part.parts.every(({ type }) => type === "Literal");
  return part.type === "Literal" || part.type === "SingleQuoted";
}

/** Undefined where it was set to something that is not known. */
function homeIn({ place }: Line, { variables }: Shell): string | undefined {
  const [only, ...more] = variables.get("HOME") ?? [known(place.home)];
  return only?.type === "known" && more.length === 0 ? only.text : undefined;
}

function tilde(text: string, { line, shell }: Spot, isFirst: boolean): Text {
  const found = isFirst ? TILDE.exec(text) : null;
  if (!found) return known(text);
  const [, name = "", user = ""] = found;
  const homes: Record<string, string | undefined> = { "": homeIn(line, shell), "+": shell.folders[0] };
  const isOther = user !== "" && user !== "+" && user !== "-" && !/^\d/.test(user);
  const home = isOther ? `/home/${user}` : homes[user];
  return home === undefined ? unknown(`${text} can be any folder`) : known(name + home + text.slice(found[0].length));
}

function partTexts(part: WordPart, spot: Spot, isFirst: boolean): Piece[] {
  switch (part.type) {
    case "Literal":
      return [whole(tilde(part.value, spot, isFirst && startsWithTilde(part.text)))];
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [whole(known(part.value))];
    case "DoubleQuoted":
    case "LocaleString":
      return quoted(part.parts, spot);
    case "Glob":
    case "ExtendedGlob":
      // For what the commands in it do.
      if (part.parts) expandParts(part.parts, spot);
      lookAtQuotes(part.parts, spot);
      return alternatives(part).map((text) => whole({ type: "glob", text }));
    case "ProcessSubstitution":
      return [whole(openProcess(part, spot))];
    case "BraceExpansion":
      if (part.parts) expandParts(part.parts, spot);
      return [whole(unknown("it has braces"))];
    default:
      return nothingOr(expansionTexts(part, spot)).map((texts) => ({ texts, splits: true }));
  }
}

/** There is always one way: what uses a word is not left out. */
const nothingOr = (ways: (readonly Text[])[]): (readonly Text[])[] => (ways.length > 0 ? ways : [[known("")]]);

type Expansion = Extract<
  WordPart,
  { type: "SimpleExpansion" | "ParameterExpansion" | "CommandExpansion" | "ArithmeticExpansion" }
>;

/** The fields of `$x`, `$(…)` and `$((…))`: one, but for lists. */
function expansionTexts(part: Expansion, spot: Spot): (readonly Text[])[] {
  if (part.type === "ArithmeticExpansion") {
    lookAtArithmetic(part.expression, spot, (parts) => expandParts(parts, spot));
    return [[aNumber]];
  }
  if (part.type === "CommandExpansion") return substituted(part, spot).map((text) => [text]);
  if (part.type === "SimpleExpansion") return variableTexts(part.text.slice(1), spot);
  return parameterText(part as ParameterExpansionPart, spot, (word) => expandString(word, spot));
}

function substituted(part: Extract<WordPart, { type: "CommandExpansion" }>, spot: Spot): readonly Text[] {
  if (!part.script) return [unknown("it is a command that cannot be parsed")];
  const flow = spot.line.engine.runScript(part.script, { ...spot, shell: copyForReading(spot.shell) });
  return textsOfFlow(flow).map((text) => (text.type === "found" ? { mayBeNone: true, ...text } : text));
}

function quoted(parts: readonly WordPart[], spot: Spot): Piece[] {
  const [only] = parts;
  // "$@" stays a list.
  if (parts.length === 1 && only && /^\$\{?[@]|\[@\]\}$/.test(only.text)) {
    return partTexts(only, spot, false).map(({ texts }) => ({ texts, splits: false }));
  }
  const all = combinations(parts.map((part) => partTexts(part, spot, false)));
  if (!all) return [whole(unknown("it can be too many things"))];
  return all.map((pieces) => whole(joinTexts(pieces.map(({ texts }) => joinLine(texts)))));
}

/** Divides what was expanded at spaces, as the shell does; a pattern in it becomes one. */
function fieldsOf(pieces: readonly Piece[], { shell }: Spot): Text[] {
  if (pieces.length > 0 && pieces.every(({ texts, splits }) => !splits && texts.length === 1))
    return [joinTexts(pieces.map(({ texts }) => texts[0] as Text))];
  const separators = separatorsOf(shell);
  const fields: Text[][] = [[]];
  const add = (text: Text): void => void fields.at(-1)?.push(text);
  let isEmptyQuoted = false;
  for (const { texts, splits } of pieces) {
    texts.forEach((text, at) => {
      if (at > 0) fields.push([]);
      if (!splits || text.type !== "known" || !separators) {
        isEmptyQuoted ||= !splits;
        const isDivided = splits && text.type === "known" && text.text !== "";
        add(isDivided ? unknown("nothing tells where $IFS divides it") : text);
        return;
      }
      const words = text.text.split(separators);
      words.forEach((word, index) => {
        if (index > 0) fields.push([]);
        if (/[?*+@!]\(/.test(word)) add(unknown("it is a pattern that can be several things"));
        else if (word !== "") add(/[*?[]/.test(word) ? { type: "glob", text: word } : known(word));
      });
    });
  }
  const made = fields.filter((field) => field.length > 0).map((field) => joinTexts(field));
  return made.length === 0 && isEmptyQuoted ? [known("")] : made;
}

const DEFAULT_SEPARATORS = /[ \t\n]+/;

/** Undefined where it is not known which they are: then nothing is known of what they divide. */
function separatorsOf({ variables, arrays }: Shell): RegExp | undefined {
  const choices = variables.get("IFS");
  if (arrays.has("IFS")) return undefined;
  if (!choices) return DEFAULT_SEPARATORS;
  const [only] = choices;
  if (choices.length !== 1 || only?.type !== "known") return undefined;
  return only.text === "" ? /(?!)/ : new RegExp(`[${only.text.replace(/[\]\\^-]/g, "\\$&")}]+`);
}

function expandBraced(word: Word, spot: Spot): Text[][] {
  const sources = expandBraces(word.text);
  if (!sources) return [[unknown("its braces make too many words")]];
  const made: Text[] = [];
  for (const source of sources) {
    const parsed = parseShell(`: ${source}`);
    const command = "script" in parsed ? parsed.script.commands[0]?.command : undefined;
    const [only] = command?.type === "Command" ? command.args : [];
    if (only?.type !== "Word" || only.text === word.text) {
      lookAtCommands(source, spot);
      made.push(known(source));
    } else {
      const [first, ...more] = expandWord(only, spot);
      if (!first || more.length > 0) return [[unknown("its braces make too many words")]];
      made.push(...first);
    }
  }
  return [made];
}
