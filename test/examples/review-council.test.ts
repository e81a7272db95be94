import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { TEST_AGENT } from "../testing/project.ts";
import { install } from "./installed.ts";

/** Finds something until work.txt says sorry. */
const REVIEWER = `
const { readFileSync } = require("node:fs");
const asked = readFileSync(0, "utf8");
if (!asked.includes("- [x] Write a thing")) throw new Error("the plan is not in the prompt");
console.log("Let me see.");
console.log(readFileSync("work.txt", "utf8").includes("Say sorry") ? "OK" : "TODO: Say sorry");
`;

const project = install(["review-council"], {
  config: {
    agents: {
      test: { command: process.execPath, args: [TEST_AGENT] },
      reviewer: { command: process.execPath, args: ["-e", REVIEWER] },
    },
    stages: { default: "test", reviewer: "reviewer" },
  },
});
after(() => project.remove());

test("what the reviewer finds becomes a TODO that is done before the plan is in review", async () => {
  project.planFile("council", "# Council\n\n## TODO\n\n- [ ] Write a thing\n\n## Notes\n\nKeep it short.\n");
  const printed = await project.untilIdle();
  assert.match(printed, /review 1 of 2: 1 to do/);
  assert.match(printed, /review 2 of 2: 0 to do/);
  assert.equal(project.record("council").status, "review");
  assert.deepEqual(project.commits("council"), ["Write a thing", "Say sorry"]);
  assert.match(
    project.planText("council"),
    /- \[x\] Write a thing\n- \[x\] Say sorry\n\n## Notes\n\nKeep it short\.\n/,
  );
  const state = join(project.authority, "plans", "council", "plugin-state", "reviewCouncil.json");
  assert.equal(JSON.parse(readFileSync(state, "utf8")).values.rounds, 2);
});
