import type { Behaviour } from "../call.ts";
import { NOTHING } from "../values/flow.ts";
import { known, type Text, textOf } from "../values/text.ts";
import { showVariables } from "../values/variables.ts";
import { ALL_THAT_IS_SET, noteEffect, noteUnknown, SEVERAL, type Shell, type Spot } from "./state.ts";

/** What `$1` and its like are from now on. */
export function setPositional(shell: Shell, words: readonly Text[]): void {
  shell.positional = words;
  shell.isShifted = false;
}

export const HIDES = "deletes the record of what was typed";

/** `-a` and `-o allexport`: what is set from then on is exported. */
export function setOption(spot: Spot, option: string, name: string): void {
  const { shell } = spot;
  if (/^-[a-zA-Z]*k/.test(option) || name === "keyword" || name === "lastpipe")
    noteUnknown(spot, `makes the shell work otherwise: ${option} ${name}`);
  const isMeant = /^[-+][a-zA-Z]*a/.test(option) || (/^[-+]\w*o$/.test(option) && name === "allexport");
  if (isMeant && option.startsWith("-")) shell.exported.set(ALL_THAT_IS_SET, true);
  else if (isMeant) shell.exported.delete(ALL_THAT_IS_SET);
}

/** Options, and what `$1` and its like are from then on. */
export const set: Behaviour = ({ args, spot }) => {
  if (args.length === 0) return showVariables(spot);
  if (args.some((arg, at) => textOf(arg) === "+o" && textOf(args[at + 1] ?? known("")) === "history"))
    noteEffect(spot, { kind: "ours", what: HIDES });
  let at = 0;
  for (; at < args.length; at += 1) {
    const text = textOf(args[at] as Text);
    if (!/^[-+]./.test(text) || text === "--") break;
    setOption(spot, text, textOf(args[at + 1] ?? known("")));
    if (/^[-+]\w*o$/.test(text)) at += 1;
  }
  const isEnd = /^--?$/.test(textOf(args[at] ?? known("")));
  const rest = args.slice(isEnd ? at + 1 : at);
  if (rest.length > 0 || textOf(args[at] ?? known("")) === "--") setPositional(spot.shell, rest);
  return NOTHING;
};

/** More than there are leaves them as they are; of those that may be gone, more may be. */
export const shift: Behaviour = ({ args, spot }) => {
  const { positional } = spot.shell;
  const count = textOf(args[0] ?? known("1"));
  if (!/^\d+$/.test(count)) setPositional(spot.shell, [SEVERAL]);
  else if (!spot.shell.isShifted && Number(count) <= positional.length && !positional.includes(SEVERAL))
    spot.shell.positional = positional.slice(Number(count));
  return NOTHING;
};
