import { posix } from "node:path";
import type { Behaviour } from "../../call.ts";
import { readArguments } from "../../options.ts";
import { absolutePaths, deletes, unpacksInto, worksHere, writes } from "../../paths.ts";
import { noteEffect, noteUnknown, type Spot } from "../../state/state.ts";
import { OUTPUT } from "../../values/flow.ts";
import { GAP, known, startOf, type Text, textOf } from "../../values/text.ts";
import { LEADS_ELSEWHERE } from "../outputs.ts";

interface Expression {
  readonly isPlain: boolean;
  /** Whether what it puts into names can lead to another folder. */
  readonly leadsAway: boolean;
}

/** One `s/a/b/`: behind it could stand any Perl, which is also in `(?{…})` and behind `$` and `@`. */
function readExpression(text: string): Expression {
  const [, kind, sign = ""] = /^(s|y|tr)(\W)/.exec(text) ?? [];
  const [, from = "", by = "", flags, ...more] = text.replaceAll(`\\${sign}`, GAP).split(sign);
  const away = kind === "s" ? /\/|\.\.|^\.$/ : /[./]/;
  const isOne = kind !== undefined && flags !== undefined && /^[gi]*$/.test(flags) && more.length === 0;
  return {
    // A dollar sign at the end of what is looked for is the end of a name.
    isPlain: isOne && !/[`$@]|\?\{/.test(`${from.replace(/\$$/, "")} ${by}`),
    leadsAway: kind !== undefined && (by.includes(GAP) || away.test(by)),
  };
}

/** `rename s/a/b/ files`, which is Perl, or `rename a b files`. */
export const renames: Behaviour = ({ name, args, spot }) => {
  const { operands } = readArguments(args, { valued: "e E" });
  const [expression = known(""), ...files] = operands;
  const text = textOf(expression);
  const { isPlain, leadsAway } = readExpression(text);
  if (/[^\w.*?#-]/.test(text) && !isPlain)
    noteEffect(spot, { kind: "code", what: `gives ${name} code that stands in the command` });
  if (leadsAway) noteUnknown(spot, "gives files names that may be in another folder", "Use mv.");
  for (const file of files) deletes(spot, file, true);
  unpacksInto(spot, known("."));
  return OUTPUT;
};

/** Programs that change every file among their operands. */
export const writesAll: Behaviour = ({ args, spot }) => {
  for (const file of readArguments(args, { valued: "n v x w name value" }).operands) writes(spot, file);
  return OUTPUT;
};

const ONLY_LOOKS = /^(?:--get|--preview|--dry-run|sel|el|val|info|list|cat|tree|monitor)$/;

/** What they look for may begin like a path as well. */
const isPath = (arg: Text, spot: Spot): boolean =>
  LEADS_ELSEWHERE.test(startOf(arg)) &&
  absolutePaths(arg, spot).some((path) => {
    if (path.type !== "known") return true;
    const folder = posix.dirname(path.text);
    const { look } = spot.line.place;
    return look(path.text) !== undefined || (folder !== "/" && look(folder) === "folder");
  });

/** Programs that change some of their operands, which ones depends on the others. */
export const changesOperands: Behaviour = ({ name, args, spot }) => {
  const isLooking = args.some((arg) => ONLY_LOOKS.test(textOf(arg)));
  for (const arg of isLooking ? [] : args) if (isPath(arg, spot)) writes(spot, arg);
  worksHere(spot, `runs ${name}`);
  return OUTPUT;
};
