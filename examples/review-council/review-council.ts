import { appendTodos, definePlugin } from "prloom/plugin";

interface Config {
  /** What the reviewer is asked to look for. */
  readonly lookFor?: string;
  /** After so many reviews of a plan it is finished, whatever the reviewer would still find. */
  readonly rounds?: number;
}

/** Of each plan. */
interface State {
  readonly rounds: number;
}

export default definePlugin<Config, State>(({ lookFor = "bugs, missing tests and leftovers", rounds = 2 }) => ({
  async beforeFinish(plan, ctx) {
    const round = (ctx.getState("rounds") ?? 0) + 1;
    if (round > rounds) return undefined;
    const answer = await ctx.runAgent(promptFor(plan, lookFor), { stage: "reviewer" });
    const findings = [...answer.matchAll(/^TODO: (.+)$/gm)].map(([, finding = ""]) => finding.trim());
    ctx.setState("rounds", round);
    ctx.log.info(`review ${round} of ${rounds}: ${findings.length} to do`);
    return appendTodos(plan, findings);
  },
}));

function promptFor(plan: string, lookFor: string): string {
  return `All TODOs of the plan below are done, on the branch that is checked out here. Review its changes. Look for ${lookFor}.
Change nothing. For each thing that must be fixed before a person looks at it print one line that begins with "TODO: ".
If there is none, print OK.

${plan}`;
}
