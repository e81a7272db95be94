import { runWords } from "./command.ts";
import type { EffectTree } from "./effects.ts";
import { linksIn } from "./links.ts";
import { parseShell } from "./parse.ts";
import { runCarried } from "./programs/carried-command.ts";
import {
  copyShell,
  type Engine,
  type Line,
  newShell,
  noteEffect,
  noteUnknown,
  type ShellPlace,
  type Spot,
  TooMuch,
} from "./state/state.ts";
import { toItsEnd } from "./state/traps.ts";
import { type Flow, FROM, NOTHING, originOf, TERMINAL } from "./values/flow.ts";
import { Names } from "./values/names.ts";
import { PLAIN, withVariables } from "./values/plain.ts";
import { aNumber, describeText, GAP, isPlain, known, MAX_SHOWN, type Text, textOf } from "./values/text.ts";
import { EXPANDING, runScript } from "./walk.ts";

/** More than anyone types: a statement and a word count one each. */
const MAX_LOOKS = 6000;
const MAX_NESTED = 12;

/** What a command line does, without running any of it. */
export function analyse(source: string, place: ShellPlace): EffectTree {
  if (typeof source !== "string") return notText();
  const command = source.length > MAX_SHOWN ? `${source.slice(0, MAX_SHOWN)}…` : source;
  const tree: EffectTree = { command, effects: [], inner: [] };
  const line: Line = {
    place,
    files: new Names(),
    engine,
    links: undefined,
    copies: undefined,
    unpacked: undefined,
    unpackedInto: undefined,
    outward: undefined,
    isReordered: false,
    sourced: undefined,
    traps: [],
    leavings: 0,
    mayMove: /cd|pushd/.test(source),
    budget: MAX_LOOKS,
  };
  const spot: Spot = {
    line,
    shell: newShell(place),
    tree,
    input: TERMINAL,
    depth: 0,
    calls: [],
    left: [],
    isForked: false,
  };
  try {
    toItsEnd(spot, () => engine.runSource({ type: "known", text: source }, spot));
    // Links that it makes may be there before what stands in front of them.
    if (line.isReordered && linksIn(line) > 0) {
      tree.effects.length = 0;
      tree.inner.length = 0;
      engine.runSource({ type: "known", text: source }, { ...spot, shell: newShell(place) });
    }
  } catch (error) {
    // Both are for a line that was made to be too much.
    if (!(error instanceof TooMuch || error instanceof RangeError)) throw error;
    const instead = "Do it in several commands, or in a script in the worktree.";
    // First, so that nothing else of it is judged.
    tree.effects.unshift({ kind: "unknown", what: "does more than can be looked at", instead });
  }
  return tree;
}

/** Arguments come from agents: their types are not to be trusted. */
function notText(): EffectTree {
  return { command: "", effects: [{ kind: "unknown", what: "is not a string" }], inner: [] };
}

const engine: Engine = {
  runScript,
  runWords: (words, spot) => runWords(words, spot, EXPANDING),
  runSource,
  runCarried,
};

const FILLED = "prloom_filled";

/**
 * A line into which a program fills something, with a variable in its place. Where quoting could make other words of it, and
 * for what comes from elsewhere, that would not be the same.
 */
function filledIn({ template, filled }: Extract<Text, { type: "unknown" }>): { line: string; value: Text } | undefined {
  if (template === undefined || !filled || /['`\\]|<</.test(template)) return undefined;
  if (originOf(filled) & (FROM.network | FROM.decoded | FROM.secret)) return undefined;
  return { line: template.replaceAll(GAP, `\${${FILLED}}`), value: filled };
}

function runSource(source: Text, spot: Spot): Flow {
  const filled = source.type === "unknown" ? filledIn(source) : undefined;
  if (filled) {
    noteEffect(spot, { kind: "runs", what: "fills what is found into a command" });
    const shell = copyShell(spot.shell);
    shell.variables.set(FILLED, [filled.value]);
    return runSource(known(filled.line), { ...spot, shell });
  }
  const plain = isPlain(source) ? withVariables(textOf(source)) : undefined;
  if (plain !== undefined) {
    spot.shell.variables.set(PLAIN, [aNumber]);
    return runSource(known(plain), spot);
  }
  if (source.type !== "known") {
    const what = `runs code that cannot be told: ${describeText(source)}`;
    noteUnknown(spot, what, "Write the command itself.");
    return NOTHING;
  }
  const parsed = spot.depth < MAX_NESTED ? parseShell(source.text) : { problem: "is nested too deeply" };
  if ("problem" in parsed) {
    noteUnknown(spot, parsed.problem);
    return NOTHING;
  }
  return runScript(parsed.script, { ...spot, depth: spot.depth + 1 });
}
