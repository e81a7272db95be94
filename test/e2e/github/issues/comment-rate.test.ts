import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { thorough } from "../../../testing/thorough.ts";
import { type PublishingProject, publishingProject } from "../publishing-project.ts";

const numberOf = ({ project }: PublishingProject, id: string): number =>
  Number(project.record(id).changeRequest?.ref.split("#")[1]);

/** How many comments of prloom are below the pull request of a plan. */
const said = (made: PublishingProject, id: string): number =>
  made
    .pulls()
    .find(({ number }) => number === numberOf(made, id))
    ?.comments.filter(({ body }) => body.includes("<!-- prloom ")).length ?? 0;

it(
  "a plan that would say more than limits.commentsPerHour is blocked, and unblocked it says it",
  thorough,
  async (t) => {
    const made = await publishingProject(t, { limits: { commentsPerHour: 2 } });
    const { project, work, ada, cli } = made;
    for (const id of ["dark", "light"]) project.plan(id, ["make one"]);
    await work();
    await work();
    for (const words of ["one", "two", "three"]) {
      ada.comments(numberOf(made, "dark"), words);
      await work();
    }
    assert.equal(said(made, "dark"), 2);
    const { reason = "", hint = "" } = project.record("dark").blocked ?? {};
    assert.match(reason, /It made 2 new comments in an hour, and would make more/);
    ada.comments(numberOf(made, "light"), "one");
    await work();
    assert.equal(said(made, "light"), 1, "each plan has its own");
    assert.equal(project.record("light").blocked, undefined);
    const commands = [...hint.matchAll(/`prloom ([^`]+)`/g)].map(([, words = ""]) => words.split(" "));
    assert.deepEqual(
      commands.map(([name]) => name),
      ["unblock", "retry"],
    );
    for (const command of commands) assert.equal((await cli(...command)).code, 0, command.join(" "));
    await work();
    assert.equal(said(made, "dark"), 3, "what was not said is said");
    assert.equal(project.record("dark").blocked, undefined);
  },
);

it("a plan that would say more than 400 comments an hour of all plans is blocked, also over restarts", async (t) => {
  const made = await publishingProject(t);
  const { project, work, ada, cli } = made;
  for (const id of ["dark", "light"]) project.plan(id, ["make one"]);
  await work();
  await work();
  const now = Date.now();
  const comments = Array.from({ length: 400 }, (_, index) => ({ id: `said-${index}`, at: now - 60_000 + index }));
  const stateFile = join(project.authority, "plans", "light", "state.json");
  writeFileSync(stateFile, JSON.stringify({ ...project.record("light"), comments }));
  ada.comments(numberOf(made, "dark"), "one");
  await work();
  assert.equal(said(made, "dark"), 0);
  const { reason = "", hint = "" } = project.record("dark").blocked ?? {};
  assert.match(reason, /^All plans together made 400 new comments in an hour/);
  assert.match(hint, /there is room from \d{4}-.*Z on: then `prloom unblock dark`/);
  const status = await cli("status");
  assert.match(status.stdout, /All plans together made 400 new comments in an hour/);
});
