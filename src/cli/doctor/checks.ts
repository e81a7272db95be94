import { secretVariables } from "../../bridges/notify/settings.ts";
import type { Config } from "../../config/config.ts";
import { loadConfig } from "../../config/load.ts";
import { readPin } from "../../config/pin.ts";
import { allPlanModules } from "../../config/presets.ts";
import { boardsIn } from "../../config/schema/trigger-schema.ts";
import { loadExtensions } from "../../dispatcher/buses/extensions.ts";
import { pathsOf } from "../../dispatcher/paths.ts";
import { sealToPin } from "../../dispatcher/settings/keep-pin.ts";
import { offerOf } from "../../dispatcher/settings/pinning.ts";
import { mayRunForeign, NEVER_STARTED } from "../../dispatcher/settings/start-notes.ts";
import { currentBranch, openRepository, type Repository, requireCommits } from "../../git/repository.ts";
import { git, requireGitVersion } from "../../git/run.ts";
import { homeFolder } from "../../kernel/system/user.ts";
import type { Call } from "../output.ts";
import {
  checkAgents,
  checkBudgets,
  checkCommitted,
  checkOtherPrograms,
  checkReadable,
  checkSandbox,
} from "./agent-checks.ts";
import { type Finding, findingOf, orFinding } from "./finding.ts";
import { checkBase, checkProject } from "./project-checks.ts";
import { checkSigning } from "./signing-checks.ts";
import { checkRepositoryState } from "./state-checks.ts";

/**
 * Only with a config that a person started with, or would: one that was merely checked out could send the token anywhere. Loaded only where there is
 * something to ask.
 */
async function githubFindings(call: Call, config: Config): Promise<Finding[]> {
  const { github, forge, triggers } = config;
  if (!github) return [];
  return (await import("./github-checks.ts")).checkGitHub(call, github, forge, boardsIn(triggers));
}

/** Runs all checks that make sense; what depends on a thing that is missing is left out. */
export async function checkEverything(call: Call): Promise<Finding[]> {
  // First of all: which git may be asked depends on where the repository lies.
  const opening: Finding[] = [];
  const repo = await orFinding("repository", opening, () => openRepository(call.cwd));
  const findings = [nodeVersion(process.versions.node), await gitVersion(), ...opening];
  if (!repo) return [...findings, ...(await checkOtherPrograms(call, undefined)), ...(await checkSandbox(undefined))];
  findings.push({ name: "repository", state: "ok", text: repo.root });
  await orFinding("commits", findings, async () => {
    await requireCommits(repo);
    findings.push({ name: "commits", state: "ok", text: "there is something to branch from" });
  });
  const config = await orFinding("config", findings, () => loadConfig(repo.root));
  if (config) {
    findings.push({ name: "config", state: "ok", text: "prloom/config.json is valid" });
    if (await orFinding("pinned", findings, () => mayRun(repo, config, findings))) {
      findings.push(...(await checkAgents(call, config, repo.root)), ...(await githubFindings(call, config)));
      await orFinding("plugins and bridges", findings, () => modules(repo, config, findings));
    }
    findings.push(...checkBudgets(config), ...checkReadable(config, homeFolder(call.env)));
    findings.push(...(await checkBase(config, repo)), ...(await checkCommitted(config, repo)));
    findings.push(...checkProject(config, repo), ...notify(call, config));
    findings.push(...(await checkSigning(call, config, repo)));
  }
  findings.push(...(await checkOtherPrograms(call, config, repo.root)), ...(await checkSandbox(config)));
  findings.push(...(await checkRepositoryState(call, repo, config)));
  return findings;
}

function nodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const good = major > 22 || (major === 22 && minor >= 18);
  return good
    ? { name: "node", state: "ok", text: version }
    : { name: "node", state: "bad", text: `${version} is too old`, hint: "Install Node 22.18 or newer." };
}

async function gitVersion(): Promise<Finding> {
  try {
    await requireGitVersion(2, 38);
    return { name: "git", state: "ok", text: (await git(["--version"])).stdout.trim().replace("git version ", "") };
  } catch (error) {
    return findingOf("git", error);
  }
}

/** Looking at a foreign branch must not run what it names: programs are asked for their versions, and modules are loaded. */
async function mayRun(repo: Repository, config: Config, findings: Finding[]): Promise<boolean> {
  const paths = pathsOf(repo);
  const pin = readPin(paths.pinFile);
  const notTried = (text: string): false => {
    const hint = "`prloom start` applies what is checked out.";
    findings.push({ name: "pinned", state: "warn", text: `${text}: agents, plugins and bridges were not tried`, hint });
    return false;
  };
  if (!pin) {
    if (!(await mayRunForeign(repo, config, process.env.PATH))) return true;
    return notTried(NEVER_STARTED);
  }
  // Without a branch nothing tells that it is still the person's.
  if (pin.branch !== undefined && pin.branch === (await currentBranch(repo))) return true;
  if (offerOf(pin, { root: repo.root, path: process.env.PATH }).changes.length === 0) {
    sealToPin(paths, pin);
    return true;
  }
  return notTried("a branch other than that of the last start is checked out, and differs");
}

/** Loads them as a start does, and calls none. */
async function modules(repo: Repository, config: Config, findings: Finding[]): Promise<void> {
  const { plugins, bridges } = allPlanModules(config);
  const count = plugins.length + bridges.length + config.globalPlugins.length + config.globalBridges.length;
  if (count === 0) return;
  await loadExtensions(repo.root, config, []);
  findings.push({ name: "plugins and bridges", state: "ok", text: `${count} can be loaded` });
}

/** Variables that channels need and that are not set here: the dispatcher is most often started from the same place. */
function notify(call: Call, config: Config): Finding[] {
  return Object.entries(config.notify.channels).flatMap(([name, channel]) =>
    [...secretVariables({ channels: { [name]: channel }, routes: {}, default: [] })]
      .filter((variable) => !call.env[variable])
      .map((variable): Finding => {
        const text = `the channel "${name}" needs the variable ${variable}, which is not set`;
        return { name: "notify", state: "warn", text, hint: `Set ${variable} where \`prloom start\` is called.` };
      }),
  );
}
