import type { ProgramCall } from "../../call.ts";
import { readArguments } from "../../options.ts";
import { absolutePaths } from "../../paths.ts";
import type { Spot } from "../../state/state.ts";
import { pathsMeant } from "../../values/glob.ts";
import { aNumber, isPattern, MAX_CHOICES, type Text, textOf } from "../../values/text.ts";

/** Options with which a command prints more than names, or none. */
const PRINTS_MORE =
  /^(?:-(?![^stvfu]*$)[a-zA-Z]+|--(?:stage|unmerged|eol|format|debug|resolve-undo|recurse-submodules|no-index|relative).*)$/;
/** Options with which a command prints names; `ls-files` always does. */
const ONLY_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ["ls-files", []],
  ["grep", ["l", "L", "files-with-matches", "files-without-match", "name-only"]],
  ["diff", ["name-only"]],
]);
const VALUED = "e f A B C m max-depth threads x exclude X exclude-from exclude-per-directory with-tree";

/** A commit, by its number. */
const isNumber = (words: readonly string[]): boolean =>
  words.length > 0 && words.every((word) => /^(?:--short(?:=\d+)?|--verify|HEAD[~^\d]*)$/.test(word));

/** What git prints, where that is nothing but names of files of the worktree. */
export function namesPrinted({ name, args, spot }: ProgramCall): readonly Text[] | undefined {
  const only = ONLY_NAMES.get(name);
  const words = args.map(textOf);
  if (name === "rev-parse" && isNumber(words)) return [aNumber];
  if (!only || !(name === "ls-files" || readArguments(args, { valued: VALUED }).has(...only))) return undefined;
  if (args.some((arg) => arg.type === "unknown") || (name !== "grep" && words.some((word) => PRINTS_MORE.test(word))))
    return undefined;
  const paths = pathsGiven({ name, args, spot });
  const isAll = name === "ls-files" && paths.length === 0;
  const at = spot.shell.folders[0];
  const real = !readArguments(args, { valued: VALUED }).has("o", "others");
  if (isAll || paths.length === 0) return [{ type: "found", text: isAll ? "**" : "**/*", real, at }];
  const names = paths.flatMap(ofPathspec);
  return names.length > MAX_CHOICES ? undefined : names.map((text) => ({ type: "found", text, at }));
}

/** What a path, a folder or a pattern that git is given means. */
function ofPathspec(path: string): string[] {
  if (path.startsWith(":")) return ["**/*"];
  const plain = path.replace(/\/$/, "");
  if (plain === ".") return ["**"];
  return isPattern(plain) ? pathsMeant(plain) : [plain, `${plain}/**`];
}

/** Operands that are paths or patterns, without those that are left out. */
function pathsGiven({ name, args, spot }: ProgramCall): string[] {
  const end = args.findIndex((arg) => textOf(arg) === "--");
  const before = readArguments(end < 0 ? args : args.slice(0, end), { valued: VALUED }).operands;
  const operands = name === "grep" ? before.slice(1) : before;
  const behind = end < 0 ? [] : args.slice(end + 1);
  return [...(name === "ls-files" ? operands : operands.filter((one) => isThere(one, spot))), ...behind]
    .map(textOf)
    .filter((path) => !/^:(?:[!^]|\(exclude\))/.test(path));
}

/** Others name a commit. */
const isThere = (operand: Text, spot: Spot): boolean =>
  absolutePaths(operand, spot).some((path) => path.type !== "known" || spot.line.place.look(path.text) !== undefined);
