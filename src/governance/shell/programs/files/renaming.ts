import type { Behaviour } from "../../call.ts";
import { readArguments } from "../../options.ts";
import { deletes, unpacksInto, writes } from "../../paths.ts";
import { noteEffect } from "../../state.ts";
import { OUTPUT } from "../../values/flow.ts";
import { known, textOf } from "../../values/text.ts";

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
