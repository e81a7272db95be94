import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { thorough } from "../../../testing/thorough.ts";
import { publishingProject } from "../publishing-project.ts";
import { assertAlone, head, pullOf, STACKED } from "./stacked.ts";

describe("a stack at a GitHub of which a fifth of the calls fail", { concurrency: 2 }, () => {
  for (const seed of [1, 2, 3, 4])
    it(
      `is opened, moves, and is merged as ever: two pull requests, each commit once (seed ${seed})`,
      thorough,
      async (t) => {
        const made = await publishingProject(t);
        const { project, github, work, cli, ada, pulls, there } = made;
        const until = async (what: string, isThere: () => boolean): Promise<void> => {
          for (let start = 0; start < 60 && !isThere(); start += 1) await work();
          assert(isThere(), what);
        };
        project.plan("lower", ["make one"]);
        project.plan("upper", ["make two"], STACKED);
        github.server.faults.failShare(0.2, seed);
        await work();
        const isReview = (id: string): boolean => project.record(id).status === "review";
        await until("both are in review", () => isReview("lower") && isReview("upper"));
        await until("both are open", () => pulls().length === 2 && pulls().every(({ pull }) => pull?.draft === false));
        const theirs = ada.pushes("prloom/lower", { "more.txt": "more\n" });
        const isRestacked = (): boolean =>
          head(project, "lower") === theirs && project.git("rev-parse", "prloom/upper^").trim() === theirs;
        await until("the upper one follows", () => isRestacked() && there("prloom/upper") === head(project, "upper"));
        if (seed % 2 === 0) ada.merges(pullOf(made, "lower").number);
        else
          for (let asked = 0; asked < 20 && project.record("lower").status !== "done"; asked += 1) {
            await cli("merge", "lower");
            await work();
          }
        await until("the lower one is done", () => project.record("lower").status === "done");
        await until("its branch is gone", () => there("prloom/lower") === undefined);
        github.server.faults.clear();
        await work();
        await work();
        assert.equal(pulls().length, 2);
        assert(pullOf(made, "lower").pull.merged);
        await assertAlone(made);
      },
    );
});
