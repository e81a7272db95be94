import type { Config } from "../../config/config.ts";
import type { GitHubSettings } from "../../config/schema/github-schema.ts";
import { gitAt, type Repository } from "../../git/repository.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Environment } from "../../kernel/system/environment.ts";
import type { Call } from "../output.ts";

export interface GitHubWishes {
  readonly yes?: boolean;
  /** `<owner>/<name>`; true: as the remote says; false: not at all. */
  readonly github?: string | boolean;
  readonly label?: string;
}

export interface GitHubChoice {
  readonly repo: string;
  /** Issues that get it become plans. */
  readonly label: string;
}

const DEFAULT_LABEL = "prloom";
const FULL_NAME = /^[\w.-]+\/[\w.-]+$/;
const REMOTE = /^(?:https?:\/\/(?:[^@/]*@)?|(?:ssh:\/\/)?git@)github\.com[:/]+([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/i;

/** The repository on github.com that a remote's address names. */
export const repositoryIn = (address: string): string | undefined => REMOTE.exec(address.trim())?.[1];

/** Whether issues are to become plans, of which repository and by which label. Asked only at a terminal, in a clone of one. */
export async function chooseGitHub(
  call: Call,
  { github, label = DEFAULT_LABEL, yes }: GitHubWishes,
  repo: Repository,
): Promise<GitHubChoice | undefined> {
  if (github === false) return undefined;
  const found = typeof github === "string" ? github : await remoteRepository(repo);
  if (github !== undefined) return { repo: requireName(found), label };
  if (found === undefined || yes || !call.output.terminal || !process.stdin.isTTY) return undefined;
  const { orCancelled, confirm, text } = await import("../prompts.ts");
  if (!orCancelled(await confirm({ message: `Should issues of ${found} become plans?` }))) return undefined;
  const chosen = orCancelled(await text({ message: "By which label?", initialValue: label }));
  return { repo: found, label: chosen.trim() || label };
}

function requireName(repo: string | undefined): string {
  if (repo !== undefined && FULL_NAME.test(repo)) return repo;
  const what = repo === undefined ? "No remote of this repository is on github.com." : `"${repo}" names no repository.`;
  throw new PrloomError("usage", what, "Name it: prloom init --github <owner>/<name>");
}

async function remoteRepository(repo: Repository): Promise<string | undefined> {
  const { stdout } = await gitAt(repo, ["config", "--get-regexp", "^remote\\..*\\.url$"], { allowExit: [1] });
  const remotes = stdout.split("\n").map((line) => line.split(" "));
  const origin = remotes.find(([key]) => key === "remote.origin.url");
  return [origin, ...remotes].flatMap((remote) => repositoryIn(remote?.[1] ?? "") ?? [])[0];
}

/** What is left to do in a repository whose issues become plans. */
export function workOnIssues(
  { app, tokenEnv }: GitHubSettings,
  triggers: Config["triggers"],
  env: Environment,
): string[] {
  const token = `export ${tokenEnv}=<token>   (it needs Issues, Contents and Pull requests: read and write; or \`gh auth login\`)`;
  const labels = triggers.flatMap((trigger) => ("label" in trigger && trigger.label ? [trigger.label] : []));
  const then = labels.length > 0 ? `   (then give an issue the label "${labels[0]}")` : "";
  return [...(app || env[tokenEnv] ? [] : [token]), "prloom doctor   (tries the token)", `prloom start${then}`];
}
