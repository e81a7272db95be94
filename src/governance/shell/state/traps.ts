import type { Behaviour } from "../call.ts";
import { readArguments } from "../options.ts";
import { type Flow, NOTHING } from "../values/flow.ts";
import { type Text, textOf } from "../values/text.ts";
import { joinShells } from "./joining.ts";
import { copyShell, noteUnknown, type Spot } from "./state.ts";

/**
 * Runs a shell to its end, and then what it left for it with `trap`, in the folder and with the values that it has there. That it
 * may have ended early is its own matter.
 */
export function toItsEnd(spot: Spot, run: () => Flow): Flow {
  const { line } = spot;
  const start = line.traps?.length ?? 0;
  const { leavings } = line;
  const flow = run();
  line.leavings = leavings;
  const left = line.traps?.splice(start) ?? [];
  if (left.length === 0) return flow;
  const { traps } = line;
  line.traps = undefined;
  for (const action of left) line.engine.runSource(action, spot);
  line.traps = traps;
  return flow;
}

/** Ends a shell, perhaps: what was left for its end finds what is set now. */
export function endHere(spot: Spot): Flow {
  const { line } = spot;
  line.leavings += 1;
  const { traps = [] } = line;
  line.traps = undefined;
  for (const action of traps) line.engine.runSource(action, { ...spot, shell: copyShell(spot.shell) });
  line.traps = traps;
  return NOTHING;
}

/** What it sets may be set at any time from then on; what else it changes cannot be told. */
function runAtAnyTime(action: Text, spot: Spot): Flow {
  spot.line.traps?.push(action);
  const shell = copyShell(spot.shell);
  const flow = spot.line.engine.runSource(action, { ...spot, shell });
  if (!shell.arrays.isSame(spot.shell.arrays) || shell.folders !== spot.shell.folders)
    noteUnknown(spot, "goes to another folder, or sets an array, at any time", "Do it where it stands.");
  for (const [name, choices] of shell.variables)
    if (choices !== spot.shell.variables.get(name)) spot.shell.fixed.set(name, true);
  joinShells(spot.shell, shell);
  return flow;
}

/** What is run at the end is run. */
export const trap: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {});
  const [action, ...signals] = given.operands;
  if (
    given.has("p", "l") ||
    !action ||
    signals.length === 0 ||
    (action.type === "known" && (action.text === "-" || action.text === ""))
  )
    return NOTHING;
  if (signals.some((signal) => textOf(signal) === "DEBUG"))
    noteUnknown(spot, "runs something before each command", "Write the commands themselves.");
  return runAtAnyTime(action, spot);
};
