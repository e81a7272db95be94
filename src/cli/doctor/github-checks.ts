import { statSync } from "node:fs";
import type { Config } from "../../config/config.ts";
import type { GitHubSettings } from "../../config/schema/github-schema.ts";
import type { WatchedBoard } from "../../config/schema/trigger-schema.ts";
import { type GitHubAccess, githubAccess } from "../../github/access.ts";
import { keyFileOf } from "../../github/app-key.ts";
import { columnsOf } from "../../github/board/moves.ts";
import { boardOf } from "../../github/board/project.ts";
import { CallError } from "../../github/pages.ts";
import { type Ability, probeToken, type TokenFacts } from "../../github/probe.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { Call } from "../output.ts";
import type { Finding } from "./finding.ts";

const NAME = "GitHub";

/** What the token can really do: GitHub is asked. */
export async function checkGitHub(
  { env }: Call,
  settings: GitHubSettings,
  forge: Config["forge"] | "github" = "local",
  boards: readonly WatchedBoard[] = [],
): Promise<Finding[]> {
  const { repo } = settings;
  const access = githubAccess({ settings, environment: env, clock: systemClock });
  const facts = await probeToken(access);
  if ("problem" in facts)
    return [{ name: NAME, state: "bad", text: facts.problem, hint: hintFor(settings) }, ...keyFindings(settings, env)];
  return [
    ...[findingOf(facts, repo), ...abilityFindings(facts, forge === "github")],
    ...(facts.isFork && forge === "github" ? [forkFinding(facts)] : []),
    ...(await Promise.all(boards.map((board) => boardFinding(access, board)))),
    ...keyFindings(settings, env),
  ];
}

const BOARD_HINT =
  'Correct `project` of the trigger, or give the token what it needs: a classic one the scope read:project, a fine-grained one or an app the permission "Projects: read" of the organization. Projects of a person can be read with classic tokens only.';

/** Whether a board can be read, and has the columns of the triggers. */
async function boardFinding({ client }: GitHubAccess, board: WatchedBoard): Promise<Finding> {
  const name = `${NAME} project`;
  try {
    const found = await boardOf(client, board);
    if ("problem" in found) return { name, state: "bad", text: found.problem, hint: BOARD_HINT };
    const columns = columnsOf(board, found.options);
    if ("problem" in columns)
      return { name, state: "bad", text: columns.problem, hint: "Correct `column` of the trigger." };
    const names = board.columns.map((column) => `"${column}"`).join(", ");
    return { name, state: "ok", text: `${board.owner}/${board.number} has ${names}` };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return { name, state: "bad", text: error.message, hint: "Run `prloom doctor` again later." };
  }
}

function hintFor({ app, repo, tokenEnv }: GitHubSettings): string {
  const how = app ? "correct `github.app`" : "log in with `gh auth login`";
  return `Set ${tokenEnv} to a token for ${repo} that may read and write its issues, ${how}, or correct \`github\` in the config.`;
}

function findingOf({ login, from, repository, mayTriage, limit }: TokenFacts, repo: string): Finding {
  const left = limit ? `; ${limit.remaining} of ${limit.limit} calls are left in this hour` : "";
  const found = `${repository} as ${login}, by ${from}${left}`;
  if (repository.toLowerCase() !== repo.toLowerCase())
    return {
      name: NAME,
      state: "warn",
      text: found,
      hint: `${repo} is called ${repository} now: correct github.repo.`,
    };
  if (mayTriage) return { name: NAME, state: "ok", text: found };
  return {
    name: NAME,
    state: "warn",
    text: `${found}, who may only read there: issues can be commented on, but neither labelled nor assigned`,
    hint: `Give ${login} the role Triage or Write in ${repository}.`,
  };
}

/** What people with a fork of their own expect, and prloom does not do. */
function forkFinding({ repository }: TokenFacts): Finding {
  const text = `${repository} is a fork: pull requests are made in it, and none in the repository that it was forked from`;
  const hint =
    "prloom makes no pull requests from forks: to have them there, name that repository (`github.repo`), with a token that may push to it.";
  return { name: NAME, state: "warn", text, hint };
}

/** What a fine-grained token or an app is given it by. */
const PERMISSIONS: Readonly<Record<Ability["what"], string>> = {
  "write issues": "Issues: read and write",
  "write contents": "Contents: read and write",
  "write pull requests": "Pull requests: read and write",
  "read checks": "Checks: read",
  "read runs and statuses": "Actions: read and Commit statuses: read",
};

function abilityFindings({ abilities }: TokenFacts, publishes: boolean): Finding[] {
  const can = abilities.filter(({ refused }) => refused === undefined).map(({ what }) => what);
  const findings = abilities.flatMap((ability) => missing(ability, { can, publishes }));
  return [{ name: NAME, state: "ok", text: `may ${can.join(", ") || "only read"}` }, ...findings];
}

function missing(
  { what, refused }: Ability,
  { can, publishes }: { readonly can: readonly string[]; readonly publishes: boolean },
): Finding[] {
  if (refused === undefined) return [];
  if (what === "read checks" && can.includes("read runs and statuses"))
    return [{ name: NAME, state: "ok", text: "may not read checks; runs of Actions and statuses are read instead" }];
  // Without these nothing is pushed, so nothing is missing.
  if (what !== "write issues" && !publishes) return [];
  const forks = what === "write contents" ? " prloom makes no pull requests from forks." : "";
  const hint = `Give the token or the app the permission "${PERMISSIONS[what]}" (a classic token: the scope repo), and its account the role Write.${forks}`;
  const state = what === "read checks" || what === "read runs and statuses" ? "warn" : "bad";
  return [{ name: NAME, state, text: `may not ${what}: GitHub says ${refused}`, hint }];
}

/** As ssh asks of its keys. */
function keyFindings({ app }: GitHubSettings, env: Call["env"]): Finding[] {
  const file = app && keyFileOf(app, env);
  const mode = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || (mode & 0o077) === 0) return [];
  const text = `the key of the app (${file}) can be read by other users of this machine`;
  return [{ name: NAME, state: "warn", text, hint: `chmod 600 ${file}` }];
}
