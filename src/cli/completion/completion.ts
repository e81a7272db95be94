import type { Command } from "commander";
import type { Loom } from "../../dispatcher/loom.ts";
import type { Call } from "../output.ts";
import { planIds, reading } from "../plans.ts";
import { visible } from "../render/safe-text.ts";
import { candidatesFor } from "./candidates.ts";
import { fitsCommand } from "./fitting-plans.ts";
import { type CompletionShell, SCRIPTS } from "./scripts.ts";

/** Prints what a shell is to load. */
export function completion({ output }: Call, shell: CompletionShell): number {
  output.data({ shell, script: SCRIPTS[shell] });
  output.line(SCRIPTS[shell].trimEnd());
  return 0;
}

/** Prints what may be typed next. Where nothing can be said, as outside of a repository, it says nothing. */
export async function complete(call: Call, program: Command, words: readonly string[]): Promise<number> {
  const plans = (command: string) =>
    reading(call, (loom) => idsFor(loom, command)).then(
      (ids) => ids.map((word) => ({ word, about: "plan" })),
      () => [],
    );
  const found = await candidatesFor(program, words, plans);
  call.output.data(found);
  for (const { word, about } of found) call.output.line(`${word}\t${visible(about)}`);
  return 0;
}

/** Of files in the inbox that are not plans yet there is no record. */
function idsFor(loom: Loom, command: string): string[] {
  return planIds(loom).filter((id) => fitsCommand(command, loom.store.byId(id)));
}
