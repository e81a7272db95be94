import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeProject } from "../../../testing/project.ts";

const project = makeProject();
after(() => project.remove());

/** Longer than the whole test takes, and much shorter than these texts took when reading them was quadratic. */
const WATCHDOG = { PRLOOM_WATCHDOG_MS: "20000" };
const { inbox } = project;
const BOMB = "a\n=\n".repeat(14_000);

test("texts that were quadratic to read hold up no other plan: a draft, a queued plan and one beyond the caps", async () => {
  project.planFile("issue", `## TODO\n\n- [ ] x\n\n${BOMB}`, { status: "draft" });
  project.plan("good", ["x"]);
  project.planFile("heavy", `# Heavy\n\n## TODO\n\n- [ ] x\n\n## Notes\n\n${BOMB}`);
  project.planFile("huge", `## TODO\n\n${"- [x] a\n".repeat(3000)}`);
  const { code, stdout, stderr } = await project.work(WATCHDOG);
  assert.equal(code, 0, stdout + stderr);
  for (const id of ["good", "heavy"]) assert.equal(project.record(id).status, "review", stdout);
  const { blocked } = project.record("huge");
  assert.match(blocked?.reason ?? "", /^The text has 3000 TODOs; a plan may have 1000\.$/);
  assert.match(blocked?.hint ?? "", /`prloom edit huge`.*`prloom unblock huge`/);
  assert.equal(existsSync(join(inbox, "huge.md")), true, "nothing is lost");

  const note = await project.cli(["edit", "huge", "--file", join(inbox, "huge.md")]);
  assert.equal(note.code, 1);
  assert.match(note.stderr, /3000 TODOs/);
  writeFileSync(join(inbox, "huge.md"), "## TODO\n\n- [ ] a\n");
  await project.cli(["unblock", "huge"]);
  assert.equal((await project.work(WATCHDOG)).code, 0);
  assert.equal(project.record("huge").status, "review");
  assert.match(readFileSync(join(inbox, "issue.md"), "utf8"), /^## TODO/);
});
