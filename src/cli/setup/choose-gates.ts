import type { Config } from "../../config/config.ts";
import { requireEnforcedGates } from "../../dispatcher/gates/enforced.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Call } from "../output.ts";

export interface GateWishes {
  readonly yes?: boolean;
  readonly gates?: boolean;
}

/** Whether plans are to wait for a person. Asked only at a terminal, and only where something keeps the agent from writing before; elsewhere a start tells what is missing. */
export async function chooseGates(
  call: Call,
  wishes: GateWishes & { readonly byDefault: boolean },
  config: Config,
): Promise<boolean> {
  if (wishes.gates !== undefined) return wishes.gates;
  if (wishes.yes || !call.output.terminal || !process.stdin.isTTY) return wishes.byDefault;
  if ((await whyNotEnforced(config)) !== undefined) return wishes.byDefault;
  const { orCancelled, confirm } = await import("../prompts.ts");
  const message = "Should each plan wait for your approval before it is implemented?";
  return orCancelled(await confirm({ message, initialValue: wishes.byDefault }));
}

/** What a start would say to gates with this config; undefined if it would take them. */
export async function whyNotEnforced(config: Config): Promise<PrloomError | undefined> {
  try {
    await requireEnforcedGates({ ...config, gates: { ...config.gates, plan: true } });
    return undefined;
  } catch (error) {
    if (error instanceof PrloomError) return error;
    throw error;
  }
}
