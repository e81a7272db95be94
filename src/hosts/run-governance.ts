import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseAnchors } from "../governance/context/anchors.ts";
import { Brain } from "../governance/graph/brain.ts";
import { duePurges } from "../governance/graph/plan-facts.ts";
import { graphSchema } from "../governance/graph/schema.ts";
import { Journal } from "../governance/journal.ts";
import type { Files } from "../governance/policy/paths.ts";
import { parsePolicy } from "../governance/policy/policy-file.ts";
import { realFiles } from "../governance/policy/real-files.ts";
import type { ToolHost } from "../governance/policy/tools/request-of.ts";
import { messageOf } from "../kernel/errors.ts";
import { systemIds } from "../kernel/ids.ts";
import { Governor } from "./governor.ts";

/** Files of a run's governance: those of the dispatcher, which the run only reads, and its own journal. */
export const GOVERNANCE_FILES = { policy: "policy.json", graph: "graph.json", anchors: "anchors.json" } as const;

/** What happened in a run: in the folder of the agent where that writes it down, else beside it. */
export const FACTS = "facts.jsonl";

/** In the environment of a run that is governed from inside: where these files are. */
export const GOVERNANCE_VARIABLES = { folder: "PRLOOM_GOVERNANCE", facts: "PRLOOM_FACTS" } as const;

/** What the stages of a plan are called to their agents. */
const PHASES: Readonly<Record<string, string>> = { designer: "planning", triage: "triage", reviewer: "reviewing" };

export const phaseOfStage = (stage = ""): string => PHASES[stage] ?? "implementing";

interface RunFiles {
  readonly folder: string;
  readonly facts: string;
  readonly phase: string;
  /** The file system of the run, where that is not ours. */
  readonly files?: Files;
}

/** The governor of a run, from what the dispatcher wrote for it. Whatever is wrong there is thrown: nothing may be changed then. */
export async function governorOfRun(
  host: ToolHost,
  { folder, facts, phase, files = realFiles }: RunFiles,
): Promise<Governor> {
  const policy = await readAs(join(folder, GOVERNANCE_FILES.policy), parsePolicy);
  const graph = await readAs(join(folder, GOVERNANCE_FILES.graph), (text) => graphSchema.parse(JSON.parse(text)));
  const anchors = parseAnchors(await readFile(join(folder, GOVERNANCE_FILES.anchors), "utf8").catch(() => ""));
  const journal = new Journal(facts, new Brain(graph, { anchors, roles: policy.roles }), { isOwn: true });
  await journal.refresh();
  const now = () => Date.now();
  await purge(journal, now(), policy.purgeAfterMs);
  return new Governor({ host, policy, phase, journal, files, now, newId: () => systemIds.ulid(now()) });
}

/** What is wrong with a file is told with its name. */
async function readAs<T>(path: string, parse: (text: string) => T): Promise<T> {
  try {
    return parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new Error(`${basename(path)}: ${messageOf(error)}`, { cause: error });
  }
}

/** When a run begins: what was given up long ago is told no more. */
async function purge(journal: Journal, at: number, afterMs = Number.POSITIVE_INFINITY): Promise<void> {
  for (const plan of duePurges(journal.brain.graph, at, afterMs))
    await journal.append({ type: "plan_purged", key: `purge:${plan}`, at, session: null, role: "dispatcher", plan });
}
