import type { Behaviour } from "../call.ts";
import { worksHere } from "../paths.ts";
import { noteEffect } from "../state/state.ts";
import { FROM, OUTPUT } from "../values/flow.ts";
import { known, plainWord, startOf, textOf } from "../values/text.ts";
import { runsOrCarries } from "./shells.ts";

/** Programs that only tell something about the machine, unless one of their arguments changes it. */
export const administersUnless =
  (changes: RegExp): Behaviour =>
  ({ name, args, spot }) => {
    if (args.some((arg) => arg.type === "unknown" || changes.test(startOf(arg))))
      noteEffect(spot, { kind: "privilege", what: `administers the machine with ${name}` });
    return OUTPUT;
  };

/** What `date` prints of numbers and signs that no path is made of. */
const PLAIN_DATE = /^\+(?:[\d_:-]|%[-_0^]?[FYymdHMSsjNTuVGIR])+$/;

export const date: Behaviour = (call) => {
  const flow = administersUnless(/^(?:-s|--set.*|\d{8,})$/)(call);
  return call.args.some((arg) => arg.type === "known" && PLAIN_DATE.test(arg.text))
    ? { from: FROM.program, names: [plainWord] }
    : flow;
};

/** A browser goes to an address with the logins of the person; a file is shown by whatever the person has for it. */
export const opensElsewhere: Behaviour = ({ name, args, spot }) => {
  if (args.some((arg) => arg.type === "unknown" || /^[a-z][a-z0-9+.-]*:/i.test(startOf(arg))))
    noteEffect(spot, { kind: "sends", what: `opens an address in another program of the person with ${name}` });
  else worksHere(spot, `opens something with ${name}`);
  return OUTPUT;
};

/** It sets up repositories for the person: their settings, and jobs that the machine runs later. */
export const scalar: Behaviour = ({ args, spot }) => {
  if (!/^(?:list|version|help|diagnose)$/.test(textOf(args[0] ?? known(""))))
    noteEffect(spot, { kind: "ours", what: "changes settings of the person with scalar" });
  return OUTPUT;
};

/** What it allows is run in the person's own shell later. */
export const direnv: Behaviour = (call) => {
  if (/^(?:allow|permit|grant|edit)$/.test(textOf(call.args[0] ?? known(""))))
    noteEffect(call.spot, { kind: "ours", what: "lets code run in the shell of the person with direnv" });
  return runsOrCarries(1)(call);
};
