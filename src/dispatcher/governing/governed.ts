import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isHost } from "../../agents/enclosure-level.ts";
import type { AgentRequest, Stage } from "../../agents/port.ts";
import { type InitRecord, RUN_FILES } from "../../agents/runner/run-files.ts";
import { readInit } from "../../agents/runner/survivors.ts";
import { OURS_AT } from "../../agents/sandbox/layout.ts";
import type { StageAgent } from "../../config/presets.ts";
import { splitNul } from "../../git/output.ts";
import { gitIn, type Worktree } from "../../git/worktree/worktrees.ts";
import { graphOfPlan } from "../../governance/graph/graph-of-plan.ts";
import type { TaskGraph } from "../../governance/graph/schema.ts";
import { filesSeenFrom } from "../../governance/policy/files-seen.ts";
import { makePolicy, type RunTerms } from "../../governance/policy/make-policy.ts";
import type { Policy } from "../../governance/policy/policy-file.ts";
import { changesThings, type Role, roleNamed, usualRole } from "../../governance/policy/roles.ts";
import { closed } from "../../hosts/opencode/closing.ts";
import { ProtectedFiles } from "../../hosts/protected-files.ts";
import {
  FACTS,
  GOVERNANCE_FILES,
  GOVERNANCE_VARIABLES,
  governorOfRun,
  phaseOfStage,
} from "../../hosts/run-governance.ts";
import { TouchedFiles } from "../../hosts/touched-files.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { ensureDir, writeRunFile } from "../../kernel/files.ts";
import { findProgram, trustedPath } from "../../kernel/system/find-program.ts";
import { OWN_FOLDER } from "../../kernel/system/own-folder.ts";
import { criteriaIn } from "../../plan/checklists/criteria.ts";
import { type Todo, titleOf } from "../../plan/markdown/markdown.ts";
import { categoryOf } from "../../plan/metadata.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { EncloseOptions, Enclosure } from "../enclosure/enclose.ts";
import type { Gated } from "../gates/gate-store.ts";
import { doorAt, gateOf } from "../gates/plan-gate.ts";
import type { PlanText } from "../intake/plan-texts.ts";
import { type Located, worktreeOf } from "../paths.ts";
import type { Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { planConfig } from "../settings/plan-config.ts";
import { plansBefore } from "../steps/dependencies.ts";
import { carriedAnchors } from "./carried-anchors.ts";
import { withCarriedEvidence } from "./carried-evidence.ts";
import { heldDisk } from "./held-disk.ts";
import { RunOverseer } from "./overseer.ts";

/** From source a program of ours needs what lies around it; built, it is one of the files beside this one. */
const IS_SOURCE = import.meta.url.endsWith(".ts");
const PROGRAM = fileURLToPath(IS_SOURCE ? new URL("../", OWN_FOLDER) : OWN_FOLDER);
const PLUGIN = IS_SOURCE ? "src/opencode.ts" : "opencode.js";
const CLI = IS_SOURCE ? "src/cli/main.ts" : "cli.js";

/** What a program that takes a part of ours is to see of it; undefined for one that takes none. */
export function oursFor({ adapter }: StageAgent, runDir: string): Pick<EncloseOptions, "ours"> {
  if (!isHost(adapter)) return {};
  const folder = join(runDir, RUN_FILES.governance);
  ensureDir(folder);
  // OpenCode runs its plugin itself.
  return { ours: { folder, program: PROGRAM, ...(adapter === "opencode" ? {} : { node: process.execPath }) } };
}

/** What a run is: what its TODO says, an executor unless it says so; without a TODO it only looks. */
export function roleOfRun({ config }: Configured, { id, metadata }: PlanRecord, todo: Todo | undefined): Role {
  const category = categoryOf(metadata);
  const name = todo ? (todo.settings.by ?? usualRole(category)) : "investigator";
  const role = roleNamed(name, config.governance.roles);
  if (role && category === "research" && changesThings(role))
    throw new PrloomError(
      "plan-state",
      `TODO ${(todo?.index ?? 0) + 1} is to be done by "${name}", and the plan is research, which changes nothing.`,
      `Take the line "by: ${name}" out (\`prloom edit ${id}\`), then \`prloom unblock ${id}\`.`,
    );
  if (role) return role;
  throw new PrloomError(
    "plan-state",
    `TODO ${(todo?.index ?? 0) + 1} is to be done by "${name}", and there is no such role.`,
    `Write "by: executor", "by: investigator" or a role of governance.roles below it (\`prloom edit ${id}\`), then \`prloom unblock ${id}\`.`,
  );
}

export interface GovernedRun {
  readonly adapter: StageAgent["adapter"];
  readonly stage: Stage;
  readonly runDir: string;
  readonly text: PlanText;
  readonly enclosure: Enclosure;
  readonly vars: Readonly<Record<string, string>>;
  /** A plugin has it run: what it may do does not hang on the TODO that is next. */
  readonly isOfPlugin?: true;
}

export const NOT_APPROVED = "A person has not approved the plan yet; until then nothing is changed but the plan.";

/** Before a plan is approved as it is, nothing is changed but the plan itself, whatever runs. */
function doorFor(loom: Configured & Gated, record: PlanRecord, text: PlanText): Pick<RunTerms, "door"> {
  const config = planConfig(loom, record);
  if (config.ok && doorAt(loom, record, text, config.config).kind === "open") return {};
  const gate = gateOf(loom, record);
  return { door: { state: "closed", reason: NOT_APPROVED, ...(gate ? { gateId: gate.gateId } : {}) } };
}

/** How a run is judged: by a part of ours in its program, or by us, whom it asks. */
export interface Governance extends Pick<AgentRequest, "governed" | "overseer"> {
  /** Resolves when what is known of the run is recorded. */
  settled?(): Promise<void>;
}

/** Writes what the run may do, once and before it starts. */
export async function governRun(
  loom: Located & Configured & Records & Gated,
  record: PlanRecord,
  run: GovernedRun,
): Promise<Governance> {
  const { runDir, enclosure } = run;
  const { policy, graph: planned } = termsOf(loom, record, run);
  const { node: todo } = policy;
  const baseSha = record.current?.baseSha;
  const isOnTree = todo !== null && baseSha !== undefined;
  const graph = isOnTree ? withCarriedEvidence(planned, runDir, { todo, baseSha }) : planned;
  const { shell = SH } = policy;
  const folder = join(runDir, RUN_FILES.governance);
  writeRunFile(join(folder, GOVERNANCE_FILES.policy), JSON.stringify(policy));
  writeRunFile(join(folder, GOVERNANCE_FILES.graph), JSON.stringify(graph));
  writeRunFile(join(folder, GOVERNANCE_FILES.anchors), JSON.stringify(carriedAnchors(runDir, loom.clock.now())));
  const at = enclosure.sandboxed ? OURS_AT : { folder, program: PROGRAM, node: process.execPath };
  const env = { [GOVERNANCE_VARIABLES.folder]: at.folder };
  if (run.adapter !== "opencode") {
    const server = { command: at.node, args: [join(at.program, CLI), "mcp"], env };
    const overseer = await overseerOf(worktreeOf(loom, record), run, folder);
    const { permit, tell } = overseer;
    writeRunFile(join(runDir, RUN_FILES.asks), "{}\n");
    return { overseer: { permit, tell, server, shell }, settled: () => overseer.settled() };
  }
  const agentDir = join(runDir, RUN_FILES.agentDir);
  const facts = join(agentDir, FACTS);
  writeRunFile(join(runDir, RUN_FILES.awaited), "{}\n");
  return {
    governed: {
      plugin: join(at.program, PLUGIN),
      shell,
      close: closed,
      env: { ...env, [GOVERNANCE_VARIABLES.facts]: facts },
    },
  };
}

/** It writes down itself what happens, where the run cannot. */
async function overseerOf(worktree: Worktree, run: GovernedRun, folder: string): Promise<RunOverseer> {
  const { runDir, stage, enclosure } = run;
  const facts = join(runDir, FACTS);
  writeRunFile(facts, "");
  const files = enclosure.sandboxed ? { files: filesSeenFrom(rootOfRun(runDir)) } : {};
  const governor = await governorOfRun("claude", { folder, facts, phase: phaseOfStage(stage), ...files });
  const git = async (args: readonly string[]) =>
    splitNul((await gitIn(worktree, ["--no-optional-locks", ...args])).stdout);
  const kept = new ProtectedFiles(governor.ownPolicy, heldDisk(worktree));
  return new RunOverseer(governor, new TouchedFiles(worktree.path, git), kept);
}

/** The machine as the run sees it: its first process is on record before the agent begins. */
function rootOfRun(runDir: string): () => string {
  let root: string | undefined;
  return () => {
    root ??= rootOf(readInit(runDir));
    return root;
  };
}

function rootOf(init: InitRecord | undefined): string {
  if (!init) throw new Error("the sandbox of the run is not there");
  return `/proc/${init.pid}/root`;
}

const SH = "/bin/sh";

/**
 * Commands are judged as those of bash, so that is what runs them: other shells understand some of them otherwise, and the user's
 * own may be any.
 */
const shellOf = ({ environment }: Configured): string => findProgram("bash", trustedPath(environment.PATH), "/") ?? SH;

/** Of a worker that a plugin has run. */
const PLUGIN_TASK = "plugin";

/** What the run may do, and the tasks of its plan. */
function termsOf(
  loom: Located & Configured & Records & Gated,
  record: PlanRecord,
  { stage, text, enclosure, vars, isOfPlugin }: GovernedRun,
): { policy: Policy; graph: TaskGraph } {
  const category = categoryOf(record.metadata);
  const asked = isOfPlugin && stage === "worker" ? { id: PLUGIN_TASK, name: "What the plugin asks for" } : undefined;
  const { graph, current } = graphOfPlan({
    id: record.id,
    title: titleOf(text.text, record.id),
    category,
    status: "active",
    todos: text.doc.todos,
    acceptance: criteriaIn(text.text),
    at: Date.parse(record.updatedAt),
    inHand: record.current?.todoId,
    roles: loom.config.governance.roles,
    ...(asked ? { asked } : {}),
    // What the dispatcher took up waits for no plan that was named since.
    before: plansBefore(loom, record, text.doc).filter(({ status }) => status === "completed" || status === "archived"),
  });
  const todo = stage === "worker" && !asked ? current : undefined;
  const { governance } = loom.config;
  const role = (asked && roleNamed(usualRole(category))) ?? roleOfRun(loom, record, todo);
  const home = enclosure.env.HOME ?? loom.environment.HOME ?? "/";
  const temporary = enclosure.env.TMPDIR ?? loom.environment.TMPDIR ?? tmpdir();
  const policy = makePolicy(governance, {
    role,
    node: asked?.id ?? todo?.id ?? null,
    ...doorFor(loom, record, text),
    place: { root: worktreeOf(loom, record).path, home, temporary, shell: shellOf(loom) },
    variables: vars,
    ...(todo?.settings.paths ? { paths: todo.settings.paths } : {}),
    ...(todo?.settings.tools ? { tools: todo.settings.tools } : {}),
  });
  return { policy, graph };
}
