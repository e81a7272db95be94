import { appendFileSync } from "node:fs";
import { basename, join } from "node:path";
import { findProgram } from "../agents/find-program.ts";
import { initialConfig } from "../config/init.ts";
import { CONFIG_FILE, loadConfig } from "../config/load.ts";
import { pathsOf } from "../dispatcher/paths.ts";
import { ensureIgnored, openRepository, type Repository, resolveCommit } from "../git/repository.ts";
import { PrloomError } from "../kernel/errors.ts";
import { ensureDir, readTextIfExists } from "../kernel/files.ts";
import { createFile } from "./create-file.ts";
import type { Call } from "./output.ts";
import { refuseInsideRun } from "./plans.ts";

export interface InitOptions {
  readonly yes?: boolean;
  readonly agent?: string;
  readonly command?: string;
  readonly arg?: readonly string[];
}

interface AgentChoice {
  readonly agentName: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** Programs that take a prompt on stdin and work without asking, in the order in which they are looked for. */
const KNOWN_AGENTS: readonly AgentChoice[] = [
  { agentName: "claude", command: "claude", args: ["-p", "--permission-mode", "acceptEdits"] },
  { agentName: "opencode", command: "opencode", args: ["run"] },
  { agentName: "codex", command: "codex", args: ["exec", "-s", "workspace-write", "-"] },
];

const PLACEHOLDER: AgentChoice = { agentName: "agent", command: "your-agent", args: [] };
const IGNORED = "/prloom/.local/";

/** Sets a repository up. What is there already stays as it is. */
export async function init(call: Call, options: InitOptions): Promise<number> {
  refuseInsideRun(call);
  checkOptions(options);
  const repo = await openRepository(call.cwd);
  const path = join(repo.root, CONFIG_FILE);
  const written: string[] = [];
  let agent: AgentChoice | undefined;
  if (readTextIfExists(path) === undefined) {
    agent = await chooseAgent(call, options);
    ensureDir(join(repo.root, "prloom"));
    if (createFile(path, initialConfig(agent))) written.push(CONFIG_FILE);
  }
  const config = loadConfig(repo.root);
  ensureDir(pathsOf(repo, config.worktreesDir).inbox);
  if (ensureIgnored(repo)) written.push("info/exclude of the git directory");
  if (!repo.bare && ignoreInTree(repo)) written.push(".gitignore");
  const hasCommits = (await resolveCommit(repo, "HEAD")) !== undefined;
  const command = config.agents[config.stages.default]?.command ?? "";
  const agentFound = findProgram(command, call.env.PATH, repo.root) !== undefined;
  report(call, { repo, written, agent, command, agentFound, hasCommits });
  return 0;
}

function checkOptions(options: InitOptions): void {
  if (options.command !== undefined) {
    if (options.command.trim() === "")
      throw new PrloomError("usage", "--command is empty.", "Name the program to run: --command claude");
    return;
  }
  if (options.arg)
    throw new PrloomError(
      "usage",
      "--arg needs --command.",
      "Say which program gets the arguments: --command <program>",
    );
  if (options.agent !== undefined && !knownAgent(options.agent)) {
    throw new PrloomError(
      "usage",
      `prloom does not know how to start an agent called "${options.agent}".`,
      `Say which program it is with --command <program>; without it: ${KNOWN_AGENTS.map(({ agentName }) => agentName).join(", ")}.`,
    );
  }
}

function knownAgent(name: string): AgentChoice | undefined {
  return KNOWN_AGENTS.find(({ agentName }) => agentName === name);
}

async function chooseAgent(call: Call, options: InitOptions): Promise<AgentChoice> {
  if (options.command !== undefined) {
    const name = options.agent ?? (basename(options.command) || "agent");
    return { agentName: name, command: options.command, args: options.arg ?? [] };
  }
  const named = options.agent === undefined ? undefined : knownAgent(options.agent);
  if (named) return named;
  const found = KNOWN_AGENTS.filter(({ command }) => findProgram(command, call.env.PATH, call.cwd) !== undefined);
  if (!options.yes && call.output.terminal && process.stdin.isTTY) return askForAgent(found);
  return found[0] ?? PLACEHOLDER;
}

async function askForAgent(found: readonly AgentChoice[]): Promise<AgentChoice> {
  const { isCancel, select, text } = await import("@clack/prompts");
  const cancelled = () => new PrloomError("usage", "Nothing was written.", "`prloom init --yes` asks nothing.");
  const options = [
    ...found.map(({ agentName, command, args }) => ({
      value: agentName,
      label: agentName,
      hint: [command, ...args].join(" "),
    })),
    { value: "", label: "another program", hint: "it gets the prompt on stdin" },
  ];
  const name = await select({ message: "Which agent shall do the work?", options });
  if (isCancel(name)) throw cancelled();
  const known = found.find(({ agentName }) => agentName === name);
  if (known) return known;
  const line = await text({ message: "The program, with its arguments", placeholder: "my-agent --quiet" });
  if (isCancel(line)) throw cancelled();
  const [command, ...args] = line
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
  return command === undefined ? PLACEHOLDER : { agentName: basename(command), command, args };
}

function ignoreInTree(repo: Repository): boolean {
  const path = join(repo.root, ".gitignore");
  const before = readTextIfExists(path) ?? "";
  if (before.split(/\r?\n/).some((line) => line.trim() === IGNORED)) return false;
  appendFileSync(path, `${before === "" || before.endsWith("\n") ? "" : "\n"}${IGNORED}\n`);
  return true;
}

interface InitReport {
  readonly repo: Repository;
  readonly written: readonly string[];
  /** Absent: there was a config already. */
  readonly agent: AgentChoice | undefined;
  readonly command: string;
  readonly agentFound: boolean;
  readonly hasCommits: boolean;
}

function report({ output }: Call, result: InitReport): void {
  const { repo, written, agent, command, agentFound, hasCommits } = result;
  output.data({
    root: repo.root,
    config: CONFIG_FILE,
    created: agent !== undefined,
    written,
    command,
    agentFound,
    hasCommits,
  });
  output.line(
    agent ? `prloom is set up in ${repo.root}.` : `${CONFIG_FILE} is there already and valid; it was left as it is.`,
  );
  for (const file of written) output.line(`  wrote ${file}`);
  if (agent) output.line(`  agent: ${[agent.command, ...agent.args].join(" ")}`);
  if (!agentFound) {
    output.line();
    output.line(output.paint("yellow", `The agent program "${command}" was not found.`));
    output.line(`Set agents.<name>.command in ${CONFIG_FILE} to your coding agent before \`prloom start\`.`);
  }
  output.line();
  output.line("next:");
  if (!hasCommits)
    output.line('  git commit --allow-empty -m "First commit"   (prloom branches from a commit; there is none yet)');
  output.line('  prloom new "What shall be done" --queue');
  output.line("  prloom start --until-idle");
}
