import { posix } from "node:path";
import type { Behaviour } from "../../call.ts";
import { readArguments } from "../../options.ts";
import { absolutePaths, deletes, unpacksInto, worksHere, writes } from "../../paths.ts";
import { noteEffect, type Spot } from "../../state/state.ts";
import { OUTPUT } from "../../values/flow.ts";
import { known, startOf, type Text, textOf } from "../../values/text.ts";
import { LEADS_ELSEWHERE } from "../outputs.ts";

const PLAIN_EXPRESSION = /^(?:s|y|tr)(\W)[^`$@]*\1[gi]*$/;

/** `rename s/a/b/ files`, which is Perl, or `rename a b files`. */
export const renames: Behaviour = ({ name, args, spot }) => {
  const { operands } = readArguments(args, { valued: "e E" });
  const [expression = known(""), ...files] = operands;
  const text = textOf(expression);
  if (/[^\w.*?#-]/.test(text) && !PLAIN_EXPRESSION.test(text))
    noteEffect(spot, { kind: "code", what: `gives ${name} code that stands in the command` });
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
