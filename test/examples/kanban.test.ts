import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { until } from "../testing/agents/agent-scripts.ts";
import { startDaemon } from "../testing/daemon.ts";
import { oneOfEach } from "../testing/sample.ts";
import { story } from "../testing/story.ts";
import { thorough } from "../testing/thorough.ts";
import { install, snippetOf } from "./installed.ts";

const project = install(["kanban"]);
after(() => project.remove());
const board = join(project.root, "board");
mkdirSync(join(board, "todo"), { recursive: true });

const card = (column: string, name = "dark-mode"): string => join(board, column, `${name}.md`);
const read = (column: string): string => readFileSync(card(column), "utf8").replace(/\n<!-- prloom \w+ -->\n$/, "");
const columns = (): Record<string, string[]> =>
  Object.fromEntries(
    readdirSync(board)
      .filter((name) => !name.startsWith("."))
      .map((column) => [column, readdirSync(join(board, column))]),
  );
const planId = async (): Promise<string> =>
  (await project.status()).plans.find(({ title }) => title === "Dark mode")?.planId ?? assert.fail("no plan");

let heard = 0;

/** Types of the events on the global bus since the last call, after an act. The next one sees whether that came to rest. */
async function eventsOf(act: () => unknown): Promise<string[]> {
  await act();
  await project.untilIdle();
  const types = (await project.events()).map(({ type }) => type).slice(heard);
  heard += types.length;
  return types;
}

const step = story("a card and its plan");

step("a card in todo/ becomes a plan, is worked on, and ends up in review/ with its ticks", async () => {
  writeFileSync(card("todo"), "# Dark mode\n\nFor the night.\n\n## TODO\n\n- [ ] Add the colours\n");
  const types = await eventsOf(() => undefined);
  assert.deepEqual(columns(), { todo: [], doing: [], review: ["dark-mode.md"] });
  assert.equal(read("review"), "# Dark mode\n\nFor the night.\n\n## TODO\n\n- [x] Add the colours\n");
  assert.deepEqual(project.commits(await planId()), ["Add the colours"]);
  assert.deepEqual(types.slice(0, 2), ["card.added", "plan_created"]);
  assert.equal(types.filter((type) => type === "plan_edited").length, 1, "one tick, one edit");
  const { source } = project.record(await planId());
  assert.deepEqual(source, { system: "board", kind: "card", id: "dark-mode" });
});

step("an edit of the plan reaches the card: one event, one write, rest", async () => {
  const id = await planId();
  const file = join(project.home, "new-text.md");
  writeFileSync(file, project.planText(id).replace("For the night.", "For the night and the cinema."));
  assert.deepEqual(await eventsOf(() => project.type("edit", id, "--file", file)), ["plan_edited"]);
  assert.equal(read("review"), project.planText(id));
  assert.match(read("review"), /the cinema/);
});

step("an edit of the card reaches the plan: one event each way, rest", async () => {
  const id = await planId();
  const text = readFileSync(card("review"), "utf8").replace("the cinema", "the theatre");
  assert.deepEqual(await eventsOf(() => writeFileSync(card("review"), text)), ["card.edited", "plan_edited"]);
  assert.match(project.planText(id), /the theatre/);
  assert.equal(read("review"), project.planText(id));
});

step("what did not change is not written", async () => {
  const before = statSync(card("review"), { bigint: true });
  assert.deepEqual(await eventsOf(() => undefined), []);
  const { ino, mtimeNs } = statSync(card("review"), { bigint: true });
  assert.deepEqual({ ino, mtimeNs }, { ino: before.ino, mtimeNs: before.mtimeNs });
});

step("a TODO that a person adds to a card in review/ is done, the ticked one stays ticked", thorough, async () => {
  const id = await planId();
  const text = readFileSync(card("review"), "utf8").replace(
    "- [x] Add the colours\n",
    "- [ ] Add the colours\n- [ ] Add the switch\n",
  );
  await eventsOf(() => writeFileSync(card("review"), text));
  assert.deepEqual(project.commits(id), ["Add the colours", "Add the switch"]);
  assert.match(read("review"), /- \[x\] Add the colours\n- \[x\] Add the switch\n/);
  assert.deepEqual(await eventsOf(() => undefined), [], "it does not come to rest");
});

step("merged: the card is in done/; moved back to todo/ it gets a plan of its own", thorough, async () => {
  const id = await planId();
  await project.type("merge", id);
  await project.untilIdle();
  assert.ok(existsSync(card("done")));
  writeFileSync(card("done"), "# Dark mode\n\n## TODO\n\n- [ ] Add a lamp\n");
  await project.untilIdle();
  assert.equal((await project.status()).plans.length, 1, "a card in done/ is left alone");
  renameSync(card("done"), card("todo"));
  await project.untilIdle();
  assert.equal((await project.status()).plans.length, 2);
  assert.match(read("review"), /- \[x\] Add a lamp/);
});

test("with status draft, and an edit before it is queued", thorough, async () => {
  const drafts = install(["kanban"], { configs: { kanban: { status: "draft" } } });
  after(() => drafts.remove());
  const file = join(drafts.root, "board", "todo", "idea.md");
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, "# Idea\n");
  await drafts.untilIdle();
  writeFileSync(file, "# Idea\n\n## TODO\n\n- [ ] Try it\n");
  await drafts.untilIdle();
  const { plans } = await drafts.status();
  assert.deepEqual(
    plans.map(({ status, progress }) => ({ status, progress })),
    [{ status: "draft", progress: { total: 1, completed: 0 } }],
  );
  await drafts.type("queue", plans[0]?.planId ?? "");
  await drafts.untilIdle();
  assert.ok(existsSync(join(drafts.root, "board", "review", "idea.md")));
});

test("killed anywhere on the way in: each card has one plan, and was reported once", thorough, async () => {
  const drafts = install(["kanban"], { configs: { kanban: { status: "draft" } } });
  after(() => drafts.remove());
  const folder = join(drafts.root, "board", "todo");
  mkdirSync(folder, { recursive: true });
  const all = [
    "poll:returned",
    "poll:events-appended",
    "poll:settled",
    "deliver:returned",
    "upsert:text",
    "hook:called",
  ];
  const points = oneOfEach(all, (point) => point.split(":")[0]!);
  for (const [n, point] of points.entries()) {
    writeFileSync(join(folder, `card-${n}.md`), `# Card ${n}\n`);
    const { signal } = await drafts.work({ PRLOOM_CRASH_AT: point });
    assert.equal(signal, "SIGKILL", point);
  }
  await drafts.untilIdle();
  const titles = (await drafts.status()).plans.map(({ title }) => title);
  assert.deepEqual(
    titles.sort(),
    points.map((_, n) => `Card ${n}`),
  );
  const types = (await drafts.events()).map(({ type }) => type).sort();
  assert.deepEqual(types, [...points.map(() => "card.added"), ...points.map(() => "plan_created")]);
});

test("what a person writes to a card is not lost when the plan changes at the same time", thorough, async () => {
  const slow = install(["kanban"]);
  after(() => slow.remove());
  const bridge = snippetOf("kanban").globalBridges?.kanban;
  slow.config({ globalBridges: { kanban: { ...bridge, pollEvery: "1h" } } });
  const file = join(slow.root, "board", "review", "poem.md");
  mkdirSync(join(slow.root, "board", "todo"), { recursive: true });
  writeFileSync(join(slow.root, "board", "todo", "poem.md"), "# Poem\n\nOf spring.\n\n## TODO\n\n- [ ] Write it\n");
  await slow.untilIdle();
  const { planId = "" } = (await slow.status()).plans[0] ?? {};
  const daemon = await startDaemon(slow);
  await slow.type("poll", "kanban");
  writeFileSync(file, readFileSync(file, "utf8").replace("Of spring.", "Of autumn."));
  const edited = join(slow.home, "edited.md");
  writeFileSync(edited, `${slow.planText(planId)}\n## Decision Log\n\n- It rhymes.\n`);
  await slow.type("edit", planId, "--file", edited);
  const bus = join(slow.authority, "bus");
  await until(bus, () => readFileSync(join(bus, "settled.jsonl"), "utf8").includes("a person is editing the card"));
  assert.match(readFileSync(file, "utf8"), /Of autumn\.[\s\S]*Write it\n/);
  await slow.type("poll", "kanban");
  await until(join(file, ".."), () => readFileSync(file, "utf8").includes("- It rhymes."));
  assert.match(readFileSync(file, "utf8"), /Of autumn\./);
  assert.match(slow.planText(planId), /Of autumn\.[\s\S]*- It rhymes\./);
  await daemon.end();
});
