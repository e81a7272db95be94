import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { agentFiles, missingScripts } from "../../agents/agent-files.ts";
import type { ProgramFacts } from "../../agents/inspect-program.ts";
import { processLimitHere } from "../../agents/runner/process-limit.ts";
import type { Adapter } from "../../config/agent-words.ts";
import type { Config } from "../../config/config.ts";
import { liesIn } from "../../dispatcher/settings/pinning.ts";
import type { Repository } from "../../git/repository.ts";
import { trackedIn } from "../../git/tracked.ts";
import type { Call } from "../output.ts";
import { type AgentCheck, checkAgent } from "../setup/agent-program.ts";
import { agentFileOf, type Installed, installedPrograms, remedyOf, troubleOf } from "../setup/choose-agent.ts";
import { enclosureOf } from "../setup/enclosure.ts";
import type { Finding } from "./finding.ts";
import { checkGates, checkHostVersion, checkLevels } from "./level-checks.ts";

interface CheckedAgent {
  readonly name: string;
  readonly check: AgentCheck;
  readonly command: string;
  /** Why it cannot work, as far as one can see from outside. */
  readonly trouble?: { readonly text: string; readonly hint: string };
}

/** Every agent of the config: its program, its version, its login. */
export async function checkAgents(call: Call, config: Config, root: string): Promise<Finding[]> {
  const checked = await Promise.all(
    Object.entries(config.agents).map(async ([name, agent]): Promise<CheckedAgent> => {
      const check = await checkAgent(call, agent, root);
      const trouble = troubleOfAgent(name, check);
      return { name, check, command: agent.command, ...(trouble === undefined ? {} : { trouble }) };
    }),
  );
  const stages = Object.values(config.stages) as readonly (readonly string[])[];
  return checked.flatMap((agent) => [
    agentFinding(agent, isNeeded(agent.name, stages, checked)),
    ...hostFindings(agent, config),
  ]);
}

function hostFindings({ name, check, trouble }: CheckedAgent, { agents }: Config): Finding[] {
  const adapter = agents[name]?.adapter;
  const facts = check.kind === "found" ? check.facts : undefined;
  return adapter === undefined || !facts || trouble ? [] : checkHostVersion({ name, adapter }, facts);
}

function troubleOfAgent(name: string, check: AgentCheck): CheckedAgent["trouble"] {
  if (check.kind === "missing") {
    const { command, program } = check;
    const title = program ? `${program.title}: ` : "";
    const install = program ? `Install it: ${program.install}` : "Install it";
    return {
      text: `${title}the program "${command}" was not found`,
      hint: `${install}${program ? "\nOr" : ", or"} set agents.${name}.command in prloom/config.json.`,
    };
  }
  if (check.kind === "unknown" || !check.facts || !check.program) return undefined;
  const text = troubleOf(check.facts);
  if (text === undefined) return undefined;
  return { text: `${text} (${check.file})`, hint: remedyOf(check.facts, check.program) };
}

/** Whether some stage has no other agent that could do the work. */
function isNeeded(name: string, stages: readonly (readonly string[])[], checked: readonly CheckedAgent[]): boolean {
  const works = (other: string): boolean => checked.some((one) => one.name === other && one.trouble === undefined);
  return stages.some((names) => names.includes(name) && !names.some(works));
}

function agentFinding({ name, check, command, trouble }: CheckedAgent, needed: boolean): Finding {
  const about = `agent ${name}`;
  const program = check.kind === "found" && check.facts ? { program: check.facts } : {};
  if (trouble) {
    // A version that was not tried may well work; a program that is not there, or not let in, does not.
    const bad = needed && !(check.kind === "found" && check.facts?.tooOld);
    return { name: about, state: bad ? "bad" : "warn", ...trouble, ...program };
  }
  if (check.kind === "found") {
    return { name: about, state: "ok", text: check.facts ? factsInWords(check.facts) : check.file, ...program };
  }
  return { name: about, state: "ok", text: `a line for the shell, not looked into: ${command}` };
}

function factsInWords({ title, version, file, login }: ProgramFacts): string {
  const entry = { yes: `logged in (${login.how})`, no: "not logged in", unknown: `login: ${login.how}` }[login.state];
  return `${title} ${version ?? "of unknown version"}, ${file}, ${entry}`;
}

/** Places that an agent may read in the sandbox, and that are not there: a typo would only show as an agent that fails. */
export function checkReadable({ agents }: Config, home: string): Finding[] {
  return Object.entries(agents).flatMap(([name, { readable }]) =>
    readable.flatMap((path): Finding[] => {
      const place = resolve(home, path.replace(/^~(?=\/|$)/, home));
      if (place === resolve(home)) {
        const text = `agents.${name}.readable: ${path} is your whole home, which the sandbox hides`;
        return [{ name: `agent ${name}`, state: "bad", text, hint: "Name the folders that the agent needs." }];
      }
      if (existsSync(place)) return [];
      const text = `agents.${name}.readable: there is no ${place}`;
      return [{ name: `agent ${name}`, state: "warn", text, hint: "Fix the path in prloom/config.json." }];
    }),
  );
}

/** Files of the repository that an agent is started with and that are in no commit: the worktree it works in does not have them. */
export async function checkCommitted({ agents }: Config, repo: Repository): Promise<Finding[]> {
  const notInGit = async (files: readonly string[]): Promise<string[]> => {
    const tracked = await Promise.all(files.map((file) => trackedIn(repo, join(repo.root, file))));
    return files.filter((_, at) => tracked[at]?.size === 0);
  };
  const findings = Object.entries(agents).map(async ([name, agent]): Promise<Finding[]> => {
    const finding = { name: `agent ${name}`, state: "warn" } as const;
    const missing = (await notInGit(missingScripts(repo.root, agent))).map((file) => {
      const text = `is started with ${file}, which does not exist`;
      return { ...finding, text, hint: `Write and commit it, or fix agents.${name} in prloom/config.json.` };
    });
    const uncommitted = (await notInGit(agentFiles(repo.root, agent))).map((file) => {
      const text = `${file} is not in git, so the worktree in which the agent works does not have it`;
      return { ...finding, text, hint: `Commit it: git add ${file} && git commit` };
    });
    return [...missing, ...uncommitted];
  });
  return (await Promise.all(findings)).flat();
}

/** When the program of an adapter reports what it costs: by nothing else does a budget in dollars end a run. */
const REPORTS_COST: Readonly<Record<Adapter, "while it works" | "at its end" | "never">> = {
  opencode: "while it works",
  claude: "at its end",
  codex: "never",
  acp: "never",
  command: "never",
};

/** Budgets in dollars that cannot be counted. */
export function checkBudgets({ limits, agents, stages }: Config): Finding[] {
  if (limits.budget.usd === undefined && limits.dailyBudget.usd === undefined) return [];
  const used = new Set(Object.values(stages).flat());
  return Object.entries(agents).flatMap(([name, { adapter, price }]): Finding[] => {
    const reports = REPORTS_COST[adapter];
    if (!used.has(name) || price !== undefined || reports === "while it works") return [];
    const text =
      reports === "at its end"
        ? "reports its cost only at the end of a run, so a budget in dollars does not end it while it works"
        : "does not report its cost, so a budget in dollars never ends it";
    const hint = `Say what it costs: agents.${name}.price in prloom/config.json, or give a budget in tokens.`;
    return [{ name: `budget of ${name}`, state: "warn", text, hint }];
  });
}

/** Programs that prloom knows, that are installed, and that no agent of the config uses. One of the checkout may be a stranger's. */
export async function checkOtherPrograms(call: Call, config: Config | undefined, root?: string): Promise<Finding[]> {
  const used = new Set(Object.values(config?.agents ?? {}).map(({ command }) => command));
  const installed = await installedPrograms(call, (file) => root === undefined || !liesIn(root, file));
  const others = installed.filter(({ known }) => !used.has(known.program.command));
  return others.map((other) => otherProgramFinding(other, config !== undefined));
}

function otherProgramFinding({ known, facts }: Installed, hasConfig: boolean): Finding {
  const how = hasConfig
    ? `add ${JSON.stringify({ [known.name]: agentFileOf(known) }).slice(1, -1)} to agents`
    : `prloom init --agent ${known.name}`;
  const age = facts.tooOld ? `, older than ${facts.least}` : "";
  const trouble = facts.broken === undefined ? age : `, does not work (${facts.broken})`;
  return {
    name: `program ${known.name}`,
    state: facts.broken === undefined ? "ok" : "warn",
    text: `${factsInWords(facts)}${trouble}; to use it: ${how}`,
    program: facts,
  };
}

/** How runs are enclosed, for all agents and for those whose config says otherwise. */
export async function checkSandbox(config: Config | undefined): Promise<Finding[]> {
  const machine = await enclosureOf("auto");
  const agents = Object.entries(config?.agents ?? {});
  const general: Finding =
    machine.level === "sandbox"
      ? {
          name: "sandbox",
          state: "ok",
          text: "bubblewrap works: agents write in their worktree alone, and do not see your home",
        }
      : { name: "sandbox", state: "warn", text: machine.text, hint: machine.remedy };
  const own = agents.filter(
    ({ 1: { sandbox } }) => sandbox === "none" || (sandbox === "bwrap" && machine.level === "none"),
  );
  const findings = own.map(async ([name, { sandbox }]): Promise<Finding> => {
    const enclosure = await enclosureOf(sandbox);
    if (enclosure.level === "sandbox") return { name: `sandbox of ${name}`, state: "ok", text: "bubblewrap works" };
    const { text, remedy, refused } = enclosure;
    return { name: `sandbox of ${name}`, state: refused ? "bad" : "warn", text, hint: remedy };
  });
  const gaps =
    machine.level === "none" ? [] : sandboxGaps({ filters: machine.filters, counts: processLimitHere() !== undefined });
  const levels = config ? [...checkLevels(config, machine.level), ...(await checkGates(config))] : [];
  return [general, ...gaps, ...(await Promise.all(findings)), ...levels];
}

/** Pure: what the sandbox cannot do on this machine. */
export function sandboxGaps({ filters, counts }: { readonly filters: boolean; readonly counts: boolean }): Finding[] {
  const calls = "The filter needs x86_64 or aarch64 and a kernel with seccomp. See prloom's docs/sandbox.md.";
  const count =
    "As an ordinary user it needs Linux 5.14 and `prlimit` (`apt install util-linux`), as root control groups that can be written. See prloom's docs/sandbox.md.";
  return [
    ...(filters
      ? []
      : [{ name: "system calls", state: "warn" as const, text: "not filtered in the sandbox here", hint: calls }]),
    ...(counts
      ? []
      : [{ name: "processes", state: "warn" as const, text: "limits.maxProcesses has no effect here", hint: count }]),
  ];
}
