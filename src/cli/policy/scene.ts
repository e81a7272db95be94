import { existsSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { resolve } from "node:path";
import { compareConfigs } from "../../config/compare.ts";
import type { Config } from "../../config/config.ts";
import { OWN_ROLES } from "../../config/governance-words.ts";
import { CONFIG_FILE, configWithoutAgents, loadConfig } from "../../config/load.ts";
import type { Pin } from "../../config/pin.ts";
import { didYouMean } from "../../config/problems/nearest.ts";
import { pathsOf, worktreeOf } from "../../dispatcher/paths.ts";
import { readPlanDetail } from "../../dispatcher/report/read.ts";
import { changesLine, settingsInForce } from "../../dispatcher/settings/pinned.ts";
import { workPlanStatus } from "../../dispatcher/steps/dependencies.ts";
import { openRepository } from "../../git/repository.ts";
import { graphOfPlan } from "../../governance/graph/graph-of-plan.ts";
import { makeGraph, makeNode, makeWorkPlan } from "../../governance/graph/make-graph.ts";
import type { TaskGraph } from "../../governance/graph/schema.ts";
import { makePolicy, type RunTerms } from "../../governance/policy/make-policy.ts";
import { below } from "../../governance/policy/paths.ts";
import type { Policy } from "../../governance/policy/policy-file.ts";
import { type Role, roleNamed, usualRole } from "../../governance/policy/roles.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Todo } from "../../plan/markdown/markdown.ts";
import { categoryOf } from "../../plan/metadata.ts";
import type { PlanSummary } from "../../plan/plan-types.ts";
import type { Call } from "../output.ts";
import { reading, suggesting } from "../plans.ts";

/** Who would make a call, and where: what a call is judged with. */
export interface Scene {
  readonly policy: Policy;
  readonly graph: TaskGraph;
  /** In words. */
  readonly about: string;
  /** What else to know about the answers: other settings than the config's, lines of a TODO without effect. */
  readonly warnings: readonly string[];
  /** Where relative paths count from; the worktree unless said. */
  readonly folder?: string | undefined;
}

export interface SceneOptions {
  readonly plan?: string | undefined;
  readonly role?: string | undefined;
}

/** The scene that is asked for: a plan's worktree and the TODO that is next there, or this repository and a task that is started. */
export function sceneFor(call: Call, { plan, role }: SceneOptions): Promise<Scene> {
  return plan === undefined ? ownScene(call, role) : suggesting(call, plan, () => planScene(call, plan, role));
}

const TASK = "a-started-task";

async function ownScene(call: Call, asked = "executor"): Promise<Scene> {
  const { root, governance, warnings } = await surroundings(call);
  const role = roleOf(asked, { governance, warnings });
  const policy = makePolicy(governance, { role, node: TASK, place: { root, ...folders() } });
  const task = {
    id: TASK,
    workPlanId: "plan",
    name: "A started task",
    status: "active",
    assignedTo: role.name,
  } as const;
  const plan = makeWorkPlan({ id: "plan", name: "A plan", status: "active", tasks: [makeNode(task, 0)] }, 0);
  const inside = below(call.cwd, root);
  const about = `${role.name} with a started task in ${root}${inside ? `, called in ${inside}` : ""}`;
  const folder = inside ? call.cwd : undefined;
  return { policy, graph: makeGraph([plan]), about, warnings, folder };
}

async function planScene(call: Call, plan: string, asked: string | undefined): Promise<Scene> {
  return reading(call, async (loom) => {
    const { record, summary, todos, problems } = await readPlanDetail(loom, plan);
    const status = workPlanStatus(record);
    const category = categoryOf(record.metadata);
    const { graph, current } = graphOfPlan({
      id: plan,
      title: summary.title,
      category,
      status,
      todos,
      inHand: record.current?.todoId,
      at: Date.parse(record.updatedAt),
    });
    const { governance } = loom.config;
    const { by = usualRole(category), paths, tools } = current?.settings ?? {};
    const task = current ? `TODO ${current.index + 1}` : withoutTodo(todos);
    const warnings = settingsWarnings(loom.pinned, loom.paths.root);
    const where = asked === undefined ? `${task} of ${plan}: ` : "";
    const role = roleOf(asked ?? by, { governance, warnings }, where);
    const root = worktreeOf(loom, record).path;
    const policy = makePolicy(governance, {
      role,
      node: current?.id ?? null,
      place: { root, ...folders() },
      ...closedBy(summary.gate),
      ...(paths ? { paths } : {}),
      ...(tools ? { tools } : {}),
    });
    const about = `${role.name} with ${task} of ${plan} in ${root}${existsSync(root) ? "" : " (not made yet)"}`;
    return { policy, graph, about, warnings: [...warnings, ...problems] };
  });
}

/** While a person decides, nothing is changed. */
function closedBy(gate: PlanSummary["gate"]): Pick<RunTerms, "door"> {
  if (!gate) return {};
  return { door: { state: "closed", reason: "A person has not approved the plan yet.", gateId: gate.gateId } };
}

function withoutTodo(todos: readonly Todo[]): string {
  if (todos.length === 0) return "no TODO yet";
  return todos.every(({ state }) => state === "done") ? "no open TODO" : "no TODO that can be worked on";
}

/** A question is answered wherever it is asked: without a repository the folder counts, without a config what is usual. */
async function surroundings(call: Call): Promise<ScenePlace> {
  try {
    const repo = await openRepository(call.cwd);
    const settings = settingsInForce(pathsOf(repo).pinFile, repo.root);
    const warnings = settingsWarnings(settings, repo.root);
    return { root: repo.root, governance: settings.config.governance, warnings };
  } catch (error) {
    if (!(error instanceof PrloomError) || error.code !== "not-a-repository") throw error;
    const warnings = ["this is not a git repository; judged as if it were one, with the usual settings"];
    return { root: call.cwd, governance: configWithoutAgents().governance, warnings };
  }
}

interface ScenePlace {
  readonly root: string;
  readonly governance: Config["governance"];
  readonly warnings: readonly string[];
}

const folders = () => ({ home: resolve(homedir()), temporary: resolve(tmpdir()) });

/** A role of a config that is not in force is missing, too: the warnings tell that. */
function roleOf(name: string, settings: Pick<ScenePlace, "governance" | "warnings">, where = ""): Role {
  const { roles } = settings.governance;
  const found = roleNamed(name, roles);
  if (found) return found;
  const known = [...OWN_ROLES, ...Object.keys(roles)];
  const message = `${where}there is no role called "${name}"${didYouMean(name, known)}`;
  throw new PrloomError(
    "usage",
    message,
    `Roles are ${known.join(", ")}; governance.roles in prloom/config.json adds some.${settings.warnings.map((one) => ` Note: ${one}.`).join("")}`,
  );
}

interface InForce {
  readonly config: Config;
  readonly pin?: Pin | undefined;
  readonly problem?: PrloomError | undefined;
}

/** What a person who reads `prloom/config.json` would not expect of an answer: other settings are in force. */
function settingsWarnings({ config, pin, problem }: InForce, root: string): string[] {
  // Before `prloom init` there is none, and nothing is wrong.
  if (problem)
    return problem.code === "config-missing" ? [] : [`judged with the usual settings: ${mistakeIn(problem)}`];
  if (!pin) return [];
  try {
    const changes = compareConfigs(config, loadConfig(root)).filter(({ key }) => key.startsWith("governance."));
    if (changes.length === 0) return [];
    return [`judged as pinned, and ${CONFIG_FILE} differs: ${changesLine(changes)}. \`prloom reload\` applies it`];
  } catch (error) {
    if (!(error instanceof PrloomError)) throw error;
    return [`judged as pinned: ${mistakeIn(error)}`];
  }
}

/** The first of the mistakes that an error lists. */
function mistakeIn({ message }: PrloomError): string {
  const [what = "", first] = message.split("\n").map((line) => line.trim().replace(/\s+/g, " "));
  return `${first === undefined ? what : `${what} ${first}`} (\`prloom doctor\` tells more)`;
}
