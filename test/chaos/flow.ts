import assert from "node:assert/strict";
import { type ChaosWorld, makeChaosWorld } from "./chaos-project.ts";
import type { ExpectedPlan } from "./invariants/invariants.ts";
import { brokenInvariants } from "./invariants/invariants.ts";
import { outsideProblems } from "./invariants/outside-invariants.ts";
import { plansOfSource } from "./invariants/source-invariants.ts";
import type { CrashPoint } from "./scenarios/crash-points.ts";

/** A world in which everything on the way from an event to its delivery happens again and again. */
export interface Flow extends ChaosWorld {
  /** Lets new things happen outside; with `work` there is a TODO for an agent among them. */
  load(options?: { readonly work?: boolean }): void;
  /** Starts the dispatcher and has it killed at the point; the assertion fails when it does not get there. */
  killedAt(point: CrashPoint): Promise<void>;
  /** The same at a later passage, where it is fine when nothing is left that leads there. */
  perhapsKilledAt(point: CrashPoint, passage: number): Promise<void>;
  finish(): Promise<void>;
  problems(): string[];
}

/** Brackets tell the recorder what to do with its answer to a post. */
const POSTS = ["", "[echo]", "[redirect]", "[block]", "[echo] [redirect]"];

export async function openFlow(seed: number): Promise<Flow> {
  const world = makeChaosWorld({ stepMs: 5, seed, sandbox: "auto" });
  const { project, outside } = world;
  project.plan("first", ["make one"]);
  let round = 0;
  let todos = 1;
  const putMain = (): void =>
    outside.put({ kind: "source", source: "main", status: "queued", text: mainText(round, todos) });
  const finish = async (): Promise<void> => {
    const result = await project.work({ OUTSIDE_CALM: "1" });
    assert.equal(result.code, 0, `${result.stderr}${result.stdout}`);
  };
  putMain();
  await finish();
  return {
    ...world,
    finish,
    load({ work = false } = {}) {
      round += 1;
      if (work) todos += 1;
      const post = POSTS[round % POSTS.length] ?? "";
      outside.put({ kind: "post", body: `post ${round} [notify] ${post}` });
      outside.put({ kind: "post", body: `/note ${round}` }, "first");
      outside.put({ kind: "post", body: `/note for ${round}`, plan: "first" });
      // Several at once: they are written together.
      for (const source of ideasOf(round)) {
        outside.put({ kind: "source", source, status: "draft", text: `# ${source} of ${round}\n` });
      }
      putMain();
    },
    async killedAt(point) {
      let result = await project.work({ [point.variable]: point.name });
      // A poll that failed brings nothing, and a dispatcher that is idle does not wait for the next one.
      for (let again = 0; again < 3 && result.code === 0; again += 1) {
        result = await project.work({ [point.variable]: point.name });
      }
      assert.equal(result.signal, "SIGKILL", `${point.name} was not passed: ${result.stderr}${result.stdout}`);
    },
    async perhapsKilledAt(point, passage) {
      const result = await project.work({ [point.variable]: `${point.name}:${passage}` });
      assert.ok(result.signal === "SIGKILL" || result.code === 0, `${result.stderr}${result.stdout}`);
    },
    problems() {
      const main = plansOfSource(project, "main");
      const plans: ExpectedPlan[] = [
        { id: "first", todos: ["make one"], said: [] },
        { id: main[0] ?? "", todos: todosOf(todos), said: [] },
      ];
      const ideas = Array.from({ length: round }, (_, index) => ideasOf(index + 1));
      const drafts = ideas.flat().flatMap((idea) => plansOfSource(project, idea));
      return [...brokenInvariants(project, { plans, drafts }), ...outsideProblems(project, outside)];
    },
  };
}

function ideasOf(round: number): string[] {
  return [`idea-${round}`, `idea-${round}-too`];
}

function todosOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `make ${index + 1}`);
}

/** What the source says in this round; its TODOs only ever grow. */
function mainText(round: number, count: number): string {
  const items = todosOf(count).map((todo) => `- [ ] ${todo}\n`);
  return `# Main\n\nAs of round ${round}.\n\n## TODO\n\n${items.join("")}`;
}
