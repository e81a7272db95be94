import { setPositional } from "./state/positional.ts";
import { copyShell, noteEffect, noteUnknown, type Spot } from "./state/state.ts";
import { toItsEnd } from "./state/traps.ts";
import { type Flow, FROM, OUTPUT, oneOfFlows, textOfFlow } from "./values/flow.ts";
import { describeText, known, type Text } from "./values/text.ts";

/** A shell that reads its commands from somewhere. */
export function runFlow(flow: Flow, spot: Spot): Flow {
  if (flow.either) return oneOfFlows(flow.either.map((one) => runFlow(one, spot)));
  if (flow.text !== undefined) {
    const [source, inside] = [known(flow.text), { ...spot, shell: copyShell(spot.shell) }];
    return toItsEnd(inside, () => spot.line.engine.runSource(source, inside));
  }
  const text = textOfFlow(flow);
  if (flow.from & (FROM.network | FROM.decoded)) {
    const what = `runs code, and ${text.type === "unknown" ? text.why : "it is not known"}`;
    noteEffect(spot, {
      kind: "code",
      what,
      instead: "Save it as a file in the worktree, read it, and use what you need of it.",
    });
  } else if (flow.from & FROM.outside) {
    const what = "runs the commands in a file outside of the worktree";
    noteEffect(spot, { kind: "code", what, instead: "Put it into the worktree, and run it there." });
  } else if (flow.from === FROM.files) noteEffect(spot, { kind: "runs", what: "runs the commands in a file" });
  else noteUnknown(spot, `runs code that cannot be told: ${describeText(text)}`, "Write the commands themselves.");
  return OUTPUT;
}

/** A script that this line wrote, with the name and the arguments that it is called with. */
export function runWritten(flow: Flow, [self, ...args]: readonly [Text, ...Text[]], spot: Spot): Flow {
  const shell = copyShell(spot.shell);
  shell.self = self;
  shell.arrays.set("BASH_SOURCE", [self]);
  setPositional(shell, args);
  return runFlow(flow, { ...spot, shell });
}
