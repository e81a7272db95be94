import type { Behaviour } from "../call.ts";
import { parseShell } from "../parse.ts";
import { NOTHING } from "../values/flow.ts";
import { known, textOf } from "../values/text.ts";
import { type FunctionBody, noteUnknown, type Spot, UNSURE } from "./state.ts";

export const alias: Behaviour = ({ args, spot }) => {
  for (const arg of args) {
    const equals = textOf(arg).indexOf("=");
    if (equals > 0) defineAlias(textOf(arg).slice(0, equals), textOf(arg).slice(equals + 1), spot);
    else if (arg.type !== "known") noteUnknown(spot, "makes an alias that cannot be told");
  }
  return NOTHING;
};

/** It is a function that is given what follows its name. */
function defineAlias(name: string, line: string, spot: Spot): void {
  spot.line.engine.runSource(known(line), spot);
  const parsed = parseShell(`${line} "$@"`);
  if ("problem" in parsed) return;
  const { pos, end, commands } = parsed.script;
  const body: FunctionBody = { type: "CompoundList", pos, end, commands };
  UNSURE.add(body);
  spot.shell.functions.set(name, body);
}
