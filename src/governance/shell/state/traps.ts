import type { Flow } from "../values/flow.ts";
import type { Spot } from "./state.ts";

/** Runs a shell to its end, and then what it left for it with `trap`, in the folder and with the values that it has there. */
export function toItsEnd(spot: Spot, run: () => Flow): Flow {
  const { line } = spot;
  const start = line.traps?.length ?? 0;
  const flow = run();
  const left = line.traps?.splice(start) ?? [];
  if (left.length === 0) return flow;
  const { traps } = line;
  line.traps = undefined;
  for (const action of left) line.engine.runSource(action, spot);
  line.traps = traps;
  return flow;
}
