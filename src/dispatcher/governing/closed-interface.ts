import { programOf } from "../../agents/adapters.ts";
import { type EnclosureLevel, isHost, withPolicy } from "../../agents/enclosure-level.ts";
import type { StageAgent } from "../../config/presets.ts";
import { CLAUDE_TOOLS } from "../../governance/policy/tools/claude.ts";
import { parsePlan } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Enclosure } from "../enclosure/enclose.ts";
import { requireEnforced } from "../gates/enforced.ts";
import type { Gated } from "../gates/gate-store.ts";
import type { Located } from "../paths.ts";
import { planText, type Records } from "../records.ts";
import { environmentOf } from "../runs/start-agent.ts";
import type { Configured } from "../settings/pinned.ts";
import { governRun, NOT_APPROVED } from "./governed.ts";

interface Opening {
  readonly agent: StageAgent;
  readonly runDir: string;
  readonly enclosure: Enclosure;
}

interface ClosedInterface {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly level: EnclosureLevel;
  /** Something keeps the agent from writing. */
  readonly isHeld: boolean;
}

/** How a person's interface to an agent is opened while its plan is not approved: in it, the agent changes nothing. */
export async function closeInterface(
  loom: Located & Configured & Records & Gated,
  record: PlanRecord,
  { agent, runDir, enclosure }: Opening,
): Promise<ClosedInterface> {
  await requireEnforced(loom.config, { [agent.name]: agent });
  const text = planText(loom, record) ?? { text: "", doc: parsePlan("") };
  const run = { adapter: agent.adapter, stage: "designer", runDir, text, enclosure, vars: {} } as const;
  // Claude Code asks us only on a pipe, and here it has a terminal.
  const governed = agent.adapter === "opencode" ? (await governRun(loom, record, run)).governed : undefined;
  const { args = [], env = {} } =
    programOf(agent)?.openClosed?.({
      reason: NOT_APPROVED,
      tools: CHANGING,
      projectSettings: agent.projectSettings,
      env: environmentOf(loom, agent, { vars: {}, enclosure }),
      ...(governed ? { governed } : {}),
    }) ?? {};
  const level = governed ? withPolicy(enclosure.level) : enclosure.level;
  return { args, env, level, isHeld: enclosure.sandboxed || isHost(agent.adapter) };
}

/** Tools of Claude Code that can change something, or start what can. */
const CHANGING = Object.entries(CLAUDE_TOOLS)
  .filter(([, { kind }]) => ["write", "edit", "shell", "delegate"].includes(kind))
  .map(([tool]) => tool);
