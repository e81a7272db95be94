import { appendFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { KNOWN_PROGRAMS } from "../../agents/adapters.ts";
import { agentFiles } from "../../agents/agent-files.ts";
import { initialConfig, unfilledTemplate } from "../../config/init.ts";
import { CONFIG_FILE, loadConfig, parseConfig } from "../../config/load.ts";
import { pathsOf } from "../../dispatcher/paths.ts";
import { ensureIgnored, gitAt, openRepository, type Repository, resolveCommit } from "../../git/repository.ts";
import { refuseBrought } from "../../git/tracked.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { ensureDir, readCheckedOut } from "../../kernel/files.ts";
import { lstatIfThere } from "../../kernel/lstat.ts";
import { MAX_FILE_BYTES } from "../../kernel/own-file.ts";
import { createFile } from "../changing/create-file.ts";
import type { Call } from "../output.ts";
import { refuseInsideRun } from "../plans.ts";
import { type AgentCheck, checkAgent } from "./agent-program.ts";
import {
  type AgentChoice,
  type AgentWishes,
  checkWishes,
  chooseInitialAgent,
  NO_AGENT,
  remedyOf,
  troubleOf,
} from "./choose-agent.ts";
import { wantsChecks } from "./choose-checks.ts";
import { chooseGates, type GateWishes, whyNotEnforced } from "./choose-gates.ts";
import { chooseGitHub, type GitHubChoice, type GitHubWishes, workOnIssues } from "./choose-github.ts";
import { SCHEMA_REFERENCE, writeConfigSchema } from "./config-schema.ts";
import { type EnclosureReport, enclosureOf } from "./enclosure.ts";
import { asConfigLines, type ProjectCommands, projectCommands } from "./project-commands.ts";

export type InitOptions = AgentWishes &
  GateWishes &
  GitHubWishes & { readonly checks?: boolean; readonly dryRun?: boolean };

const IGNORED = "/prloom/.local/";
const IGNORE_FILE = ".gitignore";

/** Sets a repository up. What is there already stays as it is. */
export async function init(call: Call, options: InitOptions): Promise<number> {
  refuseInsideRun(call);
  checkWishes(options);
  const repo = await openRepository(call.cwd);
  if (repo.bare) throw noWorkingTree(repo);
  const path = join(repo.root, CONFIG_FILE);
  await refuseBrought(repo, path);
  const written: string[] = [];
  let agent: AgentChoice | undefined;
  const before = textBefore(path);
  const project = projectCommands(repo.root);
  const template = before === undefined ? undefined : unfilledTemplate(before, NO_AGENT);
  if (before === undefined || template) {
    agent = await chooseInitialAgent(call, options);
    const github = await chooseGitHub(call, options, repo);
    // What comes from a tracker waits for a person unless one says otherwise.
    const wishes = { ...(template?.gates ? { gates: true } : {}), ...options, byDefault: github !== undefined };
    const gates = await chooseGates(call, wishes, parseConfig(initialConfig(agent), CONFIG_FILE));
    const commands = (await wantsChecks(call, project, options)) ? project : undefined;
    const text = initialConfig({ ...agent, gates, github, schema: SCHEMA_REFERENCE, ...commands });
    if (options.dryRun) return tellDryRun(call, text, github);
    // A template that is not filled in holds no work of the user.
    rmSync(path, { force: true });
    ensureDir(join(repo.root, "prloom"));
    if (createFile(path, text)) written.push(CONFIG_FILE);
  }
  if (options.dryRun) return tellDryRun(call, undefined, undefined);
  const config = loadConfig(repo.root);
  const paths = pathsOf(repo, config.worktreesDir);
  await refuseBrought(repo, join(paths.inbox, "any"));
  ensureDir(paths.inbox);
  await writeConfigSchema({ repo, paths });
  if (ensureIgnored(repo)) written.push("info/exclude of the git directory");
  if (ignoreInTree(repo)) written.push(IGNORE_FILE);
  const name = config.stages.default[0] ?? "";
  const used = config.agents[name];
  report(call, {
    repo,
    written,
    agent,
    name,
    command: used?.command ?? "",
    check: used ? await checkAgent(call, used, repo.root) : { kind: "unknown" },
    enclosure: await enclosureOf(used?.sandbox ?? "auto"),
    hasCommits: (await resolveCommit(repo, "HEAD")) !== undefined,
    uncommitted: await uncommitted(repo, [
      CONFIG_FILE,
      ...new Set(Object.values(config.agents).flatMap((one) => agentFiles(repo.root, one))),
      IGNORE_FILE,
    ]),
    checks: config.checks,
    project,
    gates: config.gates.plan,
    github: config.github?.repo,
    work: config.github && workOnIssues(config.github, config.triggers, call.env),
    ungated: config.gates.plan ? await whyNotEnforced(config) : undefined,
    unused: agent ? [] : unusedFlags(options),
  });
  return 0;
}

/** What would be written, and what would happen then. */
function tellDryRun({ output }: Call, text: string | undefined, github: GitHubChoice | undefined): number {
  const config = text === undefined ? undefined : JSON.parse(text);
  output.data({ dryRun: true, config: CONFIG_FILE, created: text !== undefined, ...(config ? { text: config } : {}) });
  if (text === undefined) output.line(`${CONFIG_FILE} is there already, and would be left as it is.`);
  else output.line(`Nothing was written. ${CONFIG_FILE} would be:\n\n${text}`);
  if (text !== undefined) output.line(`${IGNORE_FILE} would have a line for ${IGNORED}.`);
  if (!github) return 0;
  const { repo, label } = github;
  output.line(`\nAfter \`prloom start\`, once a minute, prloom would look at the issues of ${repo} and at the pull requests of its plans (four questions, no cost while nothing changes).
An issue that a person with write permission gives the label "${label}" would become a plan, be shown in a comment below the issue, and wait there for "approved" if plans are gated.
When its first TODO is committed, its branch would be pushed, and a draft of a pull request opened; merging is yours. With "forge": "local" nothing is pushed.`);
  return 0;
}

/** A device that a branch has there never ends; loading it as a config tells what is wrong. */
function textBefore(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && !stat.isFile() ? "" : readCheckedOut(path, MAX_FILE_BYTES);
}

function noWorkingTree(repo: Repository): PrloomError {
  return new PrloomError(
    "not-a-repository",
    `${repo.root} is a bare repository, and prloom needs a working tree.`,
    `Clone it and set up the clone: git clone ${repo.root} <folder>`,
  );
}

function unusedFlags(options: InitOptions): string[] {
  return (["agent", "command", "arg", "checks", "gates", "github", "label"] as const)
    .filter((name) => options[name] !== undefined)
    .map((name) => `--${name}`);
}

/** Which of the files that belong into the repository are not in its last commit as they are. */
async function uncommitted(repo: Repository, files: readonly string[]): Promise<string[]> {
  const args = ["status", "--porcelain", "-z", "--untracked-files=all", "--", ...files];
  const { stdout } = await gitAt(repo, args, { workTree: repo.root });
  const changed = stdout.split("\0").map((entry) => entry.slice(3));
  return files.filter((file) => changed.includes(file));
}

function ignoreInTree(repo: Repository): boolean {
  const path = join(repo.root, IGNORE_FILE);
  // Git reads none that is a link, and what a link of a branch leads to is not ours to write.
  if (lstatIfThere(path)?.isFile() === false) return false;
  const before = readCheckedOut(path, MAX_FILE_BYTES) ?? "";
  if (before.split(/\r?\n/).some((line) => line.trim() === IGNORED)) return false;
  appendFileSync(path, `${before === "" || before.endsWith("\n") ? "" : "\n"}${IGNORED}\n`);
  return true;
}

interface InitReport {
  readonly repo: Repository;
  readonly written: readonly string[];
  /** Absent: there was a config already. */
  readonly agent: AgentChoice | undefined;
  /** What the config calls its default agent. */
  readonly name: string;
  readonly command: string;
  readonly check: AgentCheck;
  readonly enclosure: EnclosureReport;
  readonly hasCommits: boolean;
  readonly uncommitted: readonly string[];
  readonly checks: readonly string[];
  /** What the repository seems to be tested with. */
  readonly project: ProjectCommands | undefined;
  /** Plans wait for a person. */
  readonly gates: boolean;
  /** The repository whose issues become plans. */
  readonly github: string | undefined;
  /** What is left to do so that they do. */
  readonly work: readonly string[] | undefined;
  /** Why a start refuses these gates. */
  readonly ungated: PrloomError | undefined;
  /** Flags that had no effect, because a config was there. */
  readonly unused: readonly string[];
}

function report(call: Call, result: InitReport): void {
  const { output } = call;
  const { repo, written, agent, name, command, check, enclosure, unused } = result;
  output.data({
    root: repo.root,
    config: CONFIG_FILE,
    created: agent !== undefined,
    written,
    agent: name,
    command,
    ...(agent === undefined ? {} : { why: agent.why }),
    agentFound: check.kind !== "missing",
    ...(check.kind === "found" && check.facts ? { program: check.facts } : {}),
    sandbox: enclosure.level,
    gates: result.gates,
    ...(result.github === undefined ? {} : { github: result.github }),
    hasCommits: result.hasCommits,
    uncommitted: result.uncommitted,
    checks: result.checks,
    ...(result.project === undefined ? {} : { project: result.project }),
    unused,
  });
  output.line(
    agent ? `prloom is set up in ${repo.root}.` : `${CONFIG_FILE} is there already and valid; it was left as it is.`,
  );
  for (const file of written) output.line(`  wrote ${file}`);
  if (agent) output.line(`  agent: ${name} (${agent.why})`);
  output.line(`  checks: ${checksInWords(result)}`);
  if (result.github) output.line(`  GitHub: issues of ${result.github} (\`prloom doctor\` tries the token)`);
  if (result.gates) output.line("  gates: each plan waits for `prloom approve` before it is implemented");
  if (unused.length > 0) {
    const verb = unused.length === 1 ? "was" : "were";
    output.line(output.paint("yellow", `${unused.join(", ")} ${verb} not used: the config is not changed by init.`));
    output.line(`To use another program, edit agents.${name}.command (and args) in ${CONFIG_FILE}.`);
  }
  for (const { text, remedy } of warnings(result)) {
    output.line();
    output.line(output.paint("yellow", text));
    output.line(remedy);
  }
  output.line();
  output.line("next:");
  for (const line of nextSteps(result)) output.line(`  ${line}`);
}

function checksInWords({ checks, project }: InitReport): string {
  if (checks.length > 0) return checks.join(", ");
  const none = "none, so what an agent says is done is committed";
  if (!project) return `${none}; add "checks" to ${CONFIG_FILE}`;
  return `${none}; ${project.from} suggests, for ${CONFIG_FILE}: ${asConfigLines(project)}`;
}

/** What will keep the agent from working, or from working safely, and what to do about it. */
function warnings({ name, check, enclosure, ungated }: InitReport): { text: string; remedy: string }[] {
  const found: { text: string; remedy: string }[] = [];
  if (check.kind === "missing") {
    const install = check.program ? `Install it: ${check.program.install}` : "";
    const other = `Set agents.${name}.command in ${CONFIG_FILE} to your coding agent before \`prloom start\`.`;
    const known = KNOWN_PROGRAMS.map(({ program }) => `  ${program.install}   (${program.title})`);
    const offers = `Install one of these and run \`prloom init\` again:\n${known.join("\n")}\n${other}`;
    found.push({
      text: `The agent program "${check.command}" was not found.`,
      remedy: install || (check.command === NO_AGENT.agent.command ? offers : other),
    });
  }
  if (check.kind === "found" && check.facts && check.program) {
    const trouble = troubleOf(check.facts);
    if (trouble !== undefined) found.push({ text: `${trouble}.`, remedy: remedyOf(check.facts, check.program) });
  }
  if (enclosure.level === "none") found.push({ text: enclosure.text, remedy: enclosure.remedy });
  if (ungated) found.push({ text: ungated.message, remedy: ungated.hint });
  return found;
}

function nextSteps({ uncommitted: files, hasCommits, check, work }: InitReport): string[] {
  const why = hasCommits ? "" : "   (prloom branches from a commit; there is none yet)";
  const commit =
    files.length > 0
      ? [`git add ${files.join(" ")} && git commit -m "Set up prloom"${why}`]
      : hasCommits
        ? []
        : [`git commit --allow-empty -m "First commit"${why}`];
  if (check.kind === "missing" && check.command === NO_AGENT.agent.command) {
    const demo = "prloom demo   (shows what prloom does, without an agent of yours)";
    return ["prloom init   (again, when an agent is installed)", ...commit, demo];
  }
  if (check.kind === "missing") return [...commit, "prloom doctor   (when the agent is installed)"];
  return [...commit, ...(work ?? ['prloom new "What to do" --queue', "prloom start --until-idle"])];
}
