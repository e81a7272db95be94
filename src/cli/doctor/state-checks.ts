import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Config } from "../../config/config.ts";
import { liveDaemon } from "../../dispatcher/commands/live-daemon.ts";
import { openForReading } from "../../dispatcher/commands/open-for-reading.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { copyProblem } from "../../dispatcher/moved-repository.ts";
import { type Paths, pathsOf } from "../../dispatcher/paths.ts";
import { readStatus } from "../../dispatcher/report/read.ts";
import type { AgentReport } from "../../dispatcher/report/read-agents.ts";
import type { Repository } from "../../git/repository.ts";
import { readSettings, settingOf } from "../../git/shadow/git-settings.ts";
import { canonical } from "../../git/worktree/claims.ts";
import { messageOf } from "../../kernel/errors.ts";
import { listDir } from "../../kernel/files.ts";
import { counted } from "../../kernel/text/words.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Call } from "../output.ts";
import { backOffInWords, hintToTry } from "../render/agents-state.ts";
import { type Finding, findingOf, orFinding } from "./finding.ts";

const ENOUGH_BYTES = 500 * 1024 ** 2;

/** What lies in the repository and around it: dispatcher, folders, disk, plans. */
export async function checkRepositoryState(
  call: Call,
  repo: Repository,
  config: Config | undefined,
): Promise<Finding[]> {
  const paths = pathsOf(repo, config?.worktreesDir);
  const findings: Finding[] = [];
  await orFinding("dispatcher", findings, async () => void findings.push(await dispatcher(paths)));
  const copy = copyProblem(paths);
  findings.push(copy ? findingOf("records", copy) : writable(paths));
  await orFinding("git settings", findings, async () => void findings.push(await bareRepositories(paths)));
  await orFinding("disk", findings, () => void findings.push(disk(paths)));
  if (!config || copy) return findings;
  await orFinding("plans", findings, async () => {
    const loom = await openForReading({ cwd: call.cwd });
    try {
      findings.push(...(await plans(loom)), ...leftovers(loom));
    } finally {
      loom.close();
    }
  });
  return findings;
}

async function dispatcher(paths: Paths): Promise<Finding> {
  const daemon = await liveDaemon(paths);
  const name = "dispatcher";
  if (!daemon) return { name, state: "ok", text: "not running" };
  if (!daemon.suspended) return { name, state: "ok", text: `running (pid ${daemon.pid})` };
  const hint = `\`fg\` in its terminal, or \`kill -CONT ${daemon.pid}\`, lets it go on.`;
  return { name, state: "warn", text: `suspended (pid ${daemon.pid}), as by Ctrl-Z: nothing happens`, hint };
}

/** Counts only where a repository cannot say otherwise. */
async function bareRepositories({ commonDir }: Paths): Promise<Finding> {
  const yours = (await readSettings(commonDir)).filter(({ scope }) => scope === "global" || scope === "system");
  if (settingOf(yours, "safe.barerepository") === "explicit")
    return { name: "git settings", state: "ok", text: "safe.bareRepository is explicit" };
  return {
    name: "git settings",
    state: "warn",
    text: "your git takes a folder for a repository when files in it look like one, and runs what its config says; files of a branch can",
    hint: "Run `git config --global safe.bareRepository explicit`. Bare repositories of yours are then used with `git --git-dir <folder>`.",
  };
}

function writable(paths: Paths): Finding {
  const place = existsSync(paths.authority) ? paths.authority : dirname(paths.authority);
  try {
    accessSync(place, constants.W_OK | constants.X_OK);
    return { name: "records", state: "ok", text: `${paths.authority} can be written` };
  } catch (error) {
    return {
      name: "records",
      state: "bad",
      text: messageOf(error),
      hint: `Give yourself the right to write in ${place}.`,
    };
  }
}

function disk(paths: Paths): Finding {
  const { bavail, bsize } = statfsSync(paths.commonDir);
  const free = bavail * bsize;
  const text = `${Math.floor(free / 1024 ** 2)} MB free`;
  if (free >= ENOUGH_BYTES) return { name: "disk", state: "ok", text };
  return {
    name: "disk",
    state: "warn",
    text,
    hint: "Free some space; `prloom clean` removes worktrees of finished plans.",
  };
}

async function plans(loom: Loom): Promise<Finding[]> {
  const { plans: list, problems, dead, agents } = await readStatus(loom);
  const findings: Finding[] = problems.map(({ file, reason, hint }) => ({
    name: "plans",
    state: "warn",
    text: `${basename(file)}: ${reason}`,
    hint,
  }));
  if (dead.count > 0) {
    findings.push({
      name: "plans",
      state: "warn",
      text: `${counted(dead.count, "record")} given up`,
      hint: "`prloom events <plan> --log dead` shows them.",
    });
  }
  if (findings.length === 0)
    findings.push({ name: "plans", state: "ok", text: `${list.length}, all of them readable` });
  return [...findings, ...agents.flatMap((agent) => leftAlone(agent, loom.clock.now()))];
}

function leftAlone({ name, backsOff }: AgentReport, now: number): Finding[] {
  if (!backsOff) return [];
  const hint = hintToTry(backsOff);
  const text = backOffInWords(backsOff, now);
  return [{ name: `agent ${name}`, state: "warn", text, ...(hint === undefined ? {} : { hint }) }];
}

/** Folders among the worktrees that no plan claims. */
function leftovers(loom: Loom): Finding[] {
  const { records } = loom.store.list();
  const placeOf = ({ worktree }: PlanRecord) => worktree && canonical(worktree);
  const claimed = new Set(records.filter((record) => !record.deleted && record.status !== "done").map(placeOf));
  const finished = new Set(records.map(placeOf));
  const homes = new Set(listDir(loom.paths.plans));
  const owner = (name: string, path: string): Pick<Finding, "text" | "hint"> => {
    if (finished.has(path))
      return { text: `${path} belongs to a plan that is over`, hint: "`prloom clean` removes it." };
    // Whose record cannot be read may have work there that is in no commit.
    if (homes.has(name))
      return {
        text: `${path} seems to belong to ${name}, whose record cannot be read`,
        hint: `Keep it until ${join(loom.paths.plans, name, "state.json")} is repaired.`,
      };
    return { text: `${path} belongs to no plan`, hint: `If you do not need it: git worktree remove --force ${path}` };
  };
  return listDir(loom.paths.worktrees)
    .map((name) => ({ name, path: canonical(join(loom.paths.worktrees, name)) }))
    .filter(({ path }) => !claimed.has(path))
    .map(({ name, path }) => ({ name: "worktrees", state: "warn", ...owner(name, path) }));
}
