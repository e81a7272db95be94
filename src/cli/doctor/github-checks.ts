import type { GitHubSettings } from "../../config/schema/github-schema.ts";
import { githubAccess } from "../../github/access.ts";
import { probeToken, type TokenFacts } from "../../github/probe.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { Call } from "../output.ts";
import type { Finding } from "./finding.ts";

const NAME = "GitHub";

/** What the token can really do: GitHub is asked. */
export async function checkGitHub({ env }: Call, settings: GitHubSettings): Promise<Finding[]> {
  const { repo, tokenEnv } = settings;
  const { client } = githubAccess({ settings, environment: env, clock: systemClock });
  const facts = await probeToken(client, repo);
  if ("problem" in facts)
    return [
      {
        name: NAME,
        state: "bad",
        text: facts.problem,
        hint: `Set ${tokenEnv} to a token for ${repo} that may read and write its issues, or correct \`github\` in the config.`,
      },
    ];
  return [findingOf(facts, repo)];
}

function findingOf({ login, repository, isRenamed, mayTriage, limit }: TokenFacts, repo: string): Finding {
  const left = limit ? `; ${limit.remaining} of ${limit.limit} calls are left in this hour` : "";
  const found = `${repository} as ${login}${left}`;
  if (isRenamed)
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
