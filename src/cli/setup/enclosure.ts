import { probeSandbox } from "../../agents/sandbox/probe.ts";
import type { AgentConfig } from "../../config/config.ts";

/** How runs of an agent are enclosed on this machine. */
export type EnclosureReport =
  | { readonly level: "sandbox"; readonly filters: boolean }
  | {
      readonly level: "none";
      /** What that means, as a sentence. */
      readonly text: string;
      readonly remedy: string;
      /** The agent's runs do not start: its config says that they must be enclosed. */
      readonly refused: boolean;
    };

const RIGHTS = "agents run with your rights and can read and write whatever you can";

/** Whether the runs of an agent with this setting are in a sandbox here, and if not, what to do about it. */
export async function enclosureOf(sandbox: AgentConfig["sandbox"]): Promise<EnclosureReport> {
  if (sandbox === "none") {
    const text = `No sandbox: ${RIGHTS}, because the config says "sandbox": "none".`;
    return {
      level: "none",
      text,
      remedy: 'Remove "sandbox": "none" from the agent in prloom/config.json.',
      refused: false,
    };
  }
  const probe = await probeSandbox();
  if (probe.works) return { level: "sandbox", filters: probe.features.filters };
  const refused = sandbox === "bwrap";
  const means = refused ? 'runs with "sandbox": "bwrap" do not start' : RIGHTS;
  return {
    level: "none",
    text: `No sandbox: ${means} (${probe.why}).`,
    remedy: `To have one: ${probe.remedy}`,
    refused,
  };
}
