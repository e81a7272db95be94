import { runWords } from "./command.ts";
import type { EffectTree } from "./effects.ts";
import { expandParts, expandString, expandWords } from "./expand.ts";
import { type Flow, NOTHING, TERMINAL } from "./flow.ts";
import { parseShell } from "./parse.ts";
import { runCarried } from "./programs/carried.ts";
import { type Engine, newShell, noteUnknown, type Place, type Spot } from "./state.ts";
import { describe, type Text } from "./text.ts";
import { runBody, runScript } from "./walk.ts";

const MAX_COMMANDS = 2000;
const MAX_NESTED = 12;

/** What a command line does, without running any of it. */
export function analyse(source: string, place: Place): EffectTree {
  const tree: EffectTree = { command: source, effects: [], inner: [] };
  const line = { place, files: new Map(), engine, budget: MAX_COMMANDS };
  const spot: Spot = { line, shell: newShell(place), tree, input: TERMINAL, calls: [], isForked: false };
  engine.runSource({ type: "known", text: source }, spot);
  return tree;
}

const engine: Engine = {
  runScript,
  runWords: (words, spot) =>
    runWords(words, spot, {
      words: (list) => expandWords(list, spot),
      string: (word) => expandString(word, spot),
      parts: (parts) => expandParts(parts, spot),
      body: runBody,
    }),
  runSource,
  runCarried,
};

function runSource(source: Text, spot: Spot): Flow {
  if (source.type !== "known") {
    const what = `runs code that cannot be told: ${describe(source)}`;
    noteUnknown(spot, what, "Write the command itself.");
    return NOTHING;
  }
  const depth = spot.calls.filter((call) => call === "").length;
  const parsed = depth < MAX_NESTED ? parseShell(source.text) : { problem: "it is nested too deeply" };
  if ("problem" in parsed) {
    noteUnknown(spot, parsed.problem);
    return NOTHING;
  }
  return runScript(parsed.script, { ...spot, calls: [...spot.calls, ""] });
}
