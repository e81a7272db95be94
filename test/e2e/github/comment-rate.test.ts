import assert from "node:assert/strict";
import { it } from "node:test";
import { thorough } from "../../testing/thorough.ts";
import { publishingProject } from "./publishing-project.ts";

it("a plan that would say more than limits.commentsPerHour is blocked, also over restarts", thorough, async (t) => {
  const { project, pulls, work, ada } = await publishingProject(t, { limits: { commentsPerHour: 2 } });
  for (const id of ["dark", "light"]) project.plan(id, ["make one"]);
  await work();
  await work();
  const numberOf = (id: string): number => Number(project.record(id).changeRequest?.ref.split("#")[1]);
  const said = (id: string): number =>
    pulls()
      .find(({ number }) => number === numberOf(id))
      ?.comments.filter(({ body }) => body.includes("<!-- prloom ")).length ?? 0;
  for (const words of ["one", "two", "three"]) {
    ada.comments(numberOf("dark"), words);
    await work();
  }
  assert.equal(said("dark"), 2);
  assert.match(project.record("dark").blocked?.reason ?? "", /It made 2 new comments in an hour, and would make more/);
  ada.comments(numberOf("light"), "one");
  await work();
  assert.equal(said("light"), 1, "each plan has its own");
  assert.equal(project.record("light").blocked, undefined);
});
