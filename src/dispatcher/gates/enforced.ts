import { isHost } from "../../agents/enclosure-level.ts";
import { probeSandbox } from "../../agents/sandbox/probe.ts";
import type { AgentConfig, Config } from "../../config/config.ts";
import { PrloomError } from "../../kernel/errors.ts";

/** A gate asks a person before an agent writes; one that nothing keeps from writing would only be asked to wait. */
export async function requireEnforced(config: Config, agents: Readonly<Record<string, AgentConfig>>): Promise<void> {
  if (config.gates.advisory) return;
  const free = Object.entries(agents).filter(([, { adapter, sandbox }]) => sandbox !== "bwrap" && !isHost(adapter));
  if (free.length === 0) return;
  const { works } = free.every(([, { sandbox }]) => sandbox === "none") ? { works: true } : await probeSandbox();
  const found = free.find(([, { sandbox }]) => sandbox === "none" || !works);
  if (!found) return;
  throw new PrloomError(
    "config-invalid",
    `A person is to be asked (gates), and nothing keeps the agent ${found[0]} from writing before that.`,
    'Let it run in the sandbox (`prloom doctor` tells what that needs), or set "gates": {"advisory": true}: then the gate only asks.',
  );
}

/** The agents of plans that the config sends through a gate. */
export async function requireEnforcedGates(config: Config): Promise<void> {
  const isGated = config.gates.plan || config.gates.pr;
  if (isGated) await requireEnforced(config, config.agents);
  for (const { agents, gates = {} } of Object.values(config.presets))
    if (isGated || gates.plan || gates.pr) await requireEnforced(config, { ...config.agents, ...agents });
}
