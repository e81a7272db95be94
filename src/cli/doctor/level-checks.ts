import { type EnclosureLevel, isHost } from "../../agents/enclosure-level.ts";
import type { Config } from "../../config/config.ts";
import { requireEnforcedGates } from "../../dispatcher/gates/enforced.ts";
import { type AgentLevel, levelOf } from "../../dispatcher/report/read-agents.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Finding } from "./finding.ts";

const MEANING: Readonly<Record<AgentLevel, string>> = {
  "policy+sandbox": "each call is judged, and what scripts do stays in the sandbox",
  policy: "each call is judged; what a permitted script does, it does with your rights",
  sandbox: "no call is judged; what it can reach is what the sandbox shows it",
  none: "no call is judged, and it has your rights",
  refused: "its runs do not start",
};

/** What holds for the runs of each agent; `machine` is what a sandbox gives here. */
export function checkLevels({ agents }: Pick<Config, "agents">, machine: EnclosureLevel): Finding[] {
  return Object.entries(agents).map(([name, agent]) => {
    const level = levelOf(agent, machine);
    return { name: `level of ${name}`, state: "ok", text: `${level}: ${MEANING[level]}` };
  });
}

/** Whether the agents of plans that a person approves can be kept from writing before. */
export async function checkGates(config: Config): Promise<Finding[]> {
  try {
    await requireEnforcedGates(config);
    return [];
  } catch (error) {
    if (!(error instanceof PrloomError)) throw error;
    return [{ name: "gates", state: "bad", text: error.message, hint: error.hint }];
  }
}

/** Of a program that has rules of prloom inside: whether it is of the series that they were tried with. */
export function checkHostVersion(
  { name, adapter }: { readonly name: string; readonly adapter: Config["agents"][string]["adapter"] },
  { title, version, least }: { readonly title: string; readonly version?: string; readonly least: string },
): Finding[] {
  if (!isHost(adapter) || seriesOf(version ?? "") === seriesOf(least)) return [];
  return [
    {
      name: `rules in ${name}`,
      state: "warn",
      text: `they were tried with ${title} ${seriesOf(least)}, and this is ${version ?? "of unknown version"}`,
      hint: "Look with `prloom tasks <plan>` whether what it does is recorded. Where it does not load them at all, it writes nothing.",
    },
  ];
}

/** The first two numbers: what comes after them changes no interface. */
const seriesOf = (version: string): string => version.split(".").slice(0, 2).join(".");
