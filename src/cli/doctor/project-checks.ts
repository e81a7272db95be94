import { basename, relative, sep } from "node:path";
import type { Config } from "../../config/config.ts";
import { pathsOf } from "../../dispatcher/paths.ts";
import { BASE_HINT } from "../../dispatcher/perform/activate.ts";
import { branchExists, type Repository } from "../../git/repository.ts";
import { asConfigLines, type ProjectCommands, projectCommands } from "../setup/project-commands.ts";
import type { Finding } from "./finding.ts";

/** What the project itself needs: something that checks the work, and its dependencies where the work is done. */
export function checkProject(config: Config, repo: Repository): Finding[] {
  const project = projectCommands(repo.root);
  return [...unchecked(config, project), ...dependencies(config, project), ...nested(config, repo, project)];
}

/** A base branch that is set must be there: without it no plan begins. */
export async function checkBase({ baseBranch }: Config, repo: Repository): Promise<Finding[]> {
  if (baseBranch === undefined) return [];
  if (await branchExists(repo, baseBranch)) return [{ name: "base branch", state: "ok", text: baseBranch }];
  return [{ name: "base branch", state: "bad", text: `there is no branch ${baseBranch}`, hint: BASE_HINT }];
}

function unchecked({ checks }: Config, project: ProjectCommands | undefined): Finding[] {
  if (checks.length > 0) return [{ name: "checks", state: "ok", text: checks.join(", ") }];
  const lines = project ? `${asConfigLines(project)} (${project.from} suggests it)` : '"checks": ["…"]';
  const text = "none: what an agent says is done is committed as it is";
  return [{ name: "checks", state: "warn", text, hint: `Add to prloom/config.json: ${lines}` }];
}

function dependencies({ initCommands, copyFiles }: Config, project: ProjectCommands | undefined): Finding[] {
  const [install] = project?.initCommands ?? [];
  if (install === undefined || initCommands.length > 0 || copyFiles.length > 0) return [];
  const text = `a new worktree has only what is committed, so what \`${install}\` installs is not there`;
  const hint = `Add to prloom/config.json: "initCommands": ["${install}"]. See prloom's docs/config.md, Dependencies in worktrees.`;
  return [{ name: "dependencies", state: "warn", text, hint }];
}

/** Tools that do not keep to .gitignore search worktrees that lie in the checkout, and find every file again. */
function nested({ worktreesDir }: Config, repo: Repository, project: ProjectCommands | undefined): Finding[] {
  const { worktrees } = pathsOf(repo, worktreesDir);
  if (!project || relative(repo.root, worktrees).split(sep)[0] === "..") return [];
  const text = `${worktreesDir} lies in this checkout: tools that do not keep to .gitignore find each file again there`;
  const hint = `If yours do, set "worktreesDir": "../${basename(repo.root)}-worktrees" in prloom/config.json. See prloom's docs/config.md, Dependencies in worktrees.`;
  return [{ name: "worktrees", state: "ok", text, hint }];
}
