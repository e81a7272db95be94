import type { StatusReport } from "../../dispatcher/report/read.ts";
import { counted } from "../../kernel/words.ts";
import type { Output } from "../output.ts";
import { visible } from "./safe-text.ts";
import { timeUntil } from "./time.ts";

const HOUR_MS = 3_600_000;

const SHOWN_CLAIMS = 3;

/** What other clones have claimed, so that no plan is missed here. */
export function claimsState(output: Output, { claimed }: Pick<StatusReport, "claimed">): void {
  for (const { name, by, at } of claimed.slice(0, SHOWN_CLAIMS)) {
    const number = name.slice(name.lastIndexOf("#") + 1);
    const since = at === "" ? "" : ` since ${at}`;
    output.line(
      `claimed: ${visible(`${name} by ${by}${since}`)} (\`prloom import ${visible(number)} --claim\` takes it over)`,
    );
  }
  if (claimed.length > SHOWN_CLAIMS)
    output.line(`claimed: ${claimed.length - SHOWN_CLAIMS} more (\`--json\` has them)`);
}

/** What GitHub was asked in the last hour, and what is left of the token's limit. */
export function githubState(output: Output, { github }: Pick<StatusReport, "github">, now: number): void {
  if (!github || now - Date.parse(github.at) > HOUR_MS) return;
  const { repo, lastHour, limits, reserve, plans } = github;
  const { core } = limits;
  const kept = core ? Math.ceil(core.limit * reserve) : 0;
  const left = core
    ? `; ${core.remaining} of ${core.limit} are left, ${kept} of them for people, all again ${timeUntil(new Date(core.resetAt).toISOString(), now)}`
    : "";
  const most = Object.entries(plans).sort(([, one], [, other]) => other - one)[0];
  const whose = most ? ` (most for ${visible(most[0])}: ${most[1]})` : "";
  output.line(`GitHub: ${visible(repo)}, ${counted(lastHour, "call")} in the last hour${whose}${left}`);
}
