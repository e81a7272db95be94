import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "../../testing/project.ts";
import { crash, crashCommand, finish, type Scenario, succeed, twoPlans } from "./scenario.ts";

/** A person's command is killed before the plans are begun, and given again. */
const givenAgain =
  (args: (project: Project) => readonly string[], after: readonly string[] = []): Scenario =>
  async (project, point) => {
    const plans = twoPlans(project);
    const command = args(project);
    await crashCommand(project, point, command);
    await succeed(project, command);
    if (after.length > 0) await succeed(project, after);
    await finish(project);
    return { plans };
  };

export const paused = givenAgain(() => ["pause", "first", "--now"], ["resume", "first"]);

export const edited = givenAgain((project) => {
  const file = join(project.home, "edited.md");
  writeFileSync(file, "## Title\n\nPlan first\n\nIn other words.\n\n## TODO\n\n- [ ] make one\n");
  return ["edit", "first", "--file", file];
});

/** The person has seen what changes: the first reload took it, and the second finds nothing left. */
export const reloaded: Scenario = async (project, point) => {
  const plans = twoPlans(project);
  await finish(project);
  project.config({ governance: { maxRepeatedDenials: 2 } });
  await crashCommand(project, point, ["reload", "--yes"]);
  await succeed(project, ["reload", "--yes"]);
  await finish(project);
  return { plans };
};

/** An agent that changes what it may not, beside its work. */
export const putBack: Scenario = async (project, point) => {
  const { agents } = project.config() as { agents: { chaos: { command: string; args: string[] } } };
  const { command, args } = agents.chaos;
  const script = 'echo bad > "$PRLOOM_WORKTREE/.github/ci.yml"; exec "$0" "$@"';
  const chaos = { ...agents.chaos, command: "sh", args: ["-c", script, command, ...args] };
  project.config({ agents: { chaos }, governance: { protected: [".github/**"] } });
  mkdirSync(join(project.root, ".github"));
  writeFileSync(join(project.root, ".github", "ci.yml"), "good\n");
  project.git("add", ".github");
  project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "Add checks");
  const plans = twoPlans(project);
  await crash(project, point);
  return { plans };
};

/** Agents fail; a person does the work in both worktrees, and ticks it. */
export const ticked: Scenario = async (project, point) => {
  const { agents } = project.config() as { agents: { chaos: object } };
  project.config({ agents: { chaos: { ...agents.chaos, command: "false", args: [] } } });
  const plans = twoPlans(project);
  await finish(project);
  project.config({ agents });
  for (const { id } of plans) {
    const lines = ["begin", "middle", "end"].map((part) => `${part} make one\n`);
    writeFileSync(join(project.worktree(id), `work-${id}.txt`), lines.join(""));
    const file = join(project.home, "ticked.md");
    writeFileSync(file, project.planText(id).replace("[ ]", "[x]"));
    await succeed(project, ["edit", id, "--file", file]);
    await succeed(project, ["unblock", id]);
  }
  await crash(project, point);
  return { plans };
};
