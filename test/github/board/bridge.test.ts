import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { BridgeContext, BridgeEvent, PollFailure, PollResult } from "../../../src/bridges/contract.ts";
import { githubSchema } from "../../../src/config/schema/github-schema.ts";
import { githubAccess } from "../../../src/github/access.ts";
import { boardBridge, LOOK_EVERY_MS } from "../../../src/github/board/bridge.ts";
import { Board } from "../../testing/github/boards.ts";
import { startFakeGitHub } from "../../testing/github/fake-github.ts";
import type { TokenOptions } from "../../testing/github/tokens.ts";
import type { Issue } from "../../testing/github/world.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const HOUR_MS = 3_600_000;

/** A board of acme with an old card in Todo, and a bridge that has made its first look unless `isNew`. */
async function setUp(t: TestContext, options: { token?: TokenOptions; trustBoard?: boolean; isNew?: boolean } = {}) {
  let now = START;
  const github = await startFakeGitHub({ now: () => now });
  t.after(() => github.close());
  const repository = github.repository("acme/app", { ada: "write", bot: "write", eve: "read" });
  const board = new Board(github.world, "acme", { columns: ["Backlog", "Todo", "Done"] });
  const [ada, eve] = [github.person(repository, "ada"), github.person(repository, "eve")];
  const card = (issue: Issue) => ({ repository, issue });
  board.adds("Todo", card(ada.opens({ title: "old" })));
  const warnings: string[] = [];
  const ctx = { log: { warn: (text: string) => void warnings.push(text) } } as unknown as BridgeContext;
  const clock = { now: () => now };
  const access = githubAccess({
    settings: githubSchema.parse({ repo: "acme/app", apiUrl: github.apiUrl, tokenEnv: "TOKEN" }),
    environment: { TOKEN: github.server.accounts.add("bot", options.token) },
    clock,
  });
  const watched = { owner: "acme", number: 1, columns: ["Todo"] };
  const bridge = boardBridge(access, { board: watched, clock, trustBoard: options.trustBoard ?? false });
  let state: unknown;
  const ask = async (): Promise<PollResult | PollFailure> => {
    const result = (await bridge.events?.(ctx, state as never)) as PollResult | PollFailure;
    if ("events" in result) state = result.state ?? state;
    return result;
  };
  const look = async (): Promise<readonly BridgeEvent[]> => {
    now += LOOK_EVERY_MS;
    const result = await ask();
    assert("events" in result, JSON.stringify(result));
    return result.events;
  };
  const points = (): number =>
    github.server.seen.filter(({ bucket }) => bucket === "graphql").reduce((sum, one) => sum + one.points, 0);
  if (!options.isNew) assert.deepEqual([...(await look()), ...(await look())], []);
  return { github, repository, board, ada, eve, card, warnings, ask, look, points };
}

const told = (events: readonly BridgeEvent[]): unknown[] =>
  events.map(({ type, title, context }) => [type, title, context?.column, context?.unvouched, context?.rewritten]);

describe("a board on GitHub", { concurrency: 4 }, () => {
  it("tells once what came into the column since the first look, with the text of the issue", async (t) => {
    const { board, ada, card, look } = await setUp(t);
    const item = board.adds("Backlog", card(ada.opens({ title: "new", body: "- [ ] one" })));
    assert.deepEqual(await look(), []);
    board.moves(item, "Todo");
    const [event, ...more] = await look();
    assert.deepEqual(more, []);
    assert.equal(event?.body, "- [ ] one");
    assert.deepEqual(told([event as BridgeEvent]), [["issue.moved", "new", "Todo", true, undefined]]);
    assert.equal(event?.context?.project, "acme/1");
    assert.equal(event?.context?.author, undefined, "a move has no author");
    assert.deepEqual([...(await look()), ...(await look())], []);
    board.moves(item, "Done");
    await look();
    board.moves(item, "Todo");
    const [again] = await look();
    assert.notEqual(again?.id, event?.id, "it came in again");
  });

  it("costs a point for a quiet look, and reads cards when the board changed and every ten minutes", async (t) => {
    const { board, ada, card, look, points } = await setUp(t);
    const cost = async (): Promise<number> => {
      const before = points();
      await look();
      return points() - before;
    };
    assert.deepEqual([await cost(), await cost(), await cost()], [1, 1, 1]);
    board.adds("Backlog", card(ada.opens({ title: "new" })));
    assert.deepEqual([await cost(), await cost(), await cost()], [2, 2, 1]);
    let hour = 0;
    for (let ms = 0; ms < HOUR_MS; ms += LOOK_EVERY_MS) hour += await cost();
    assert(hour <= 30, `${hour} points in a quiet hour`);
  });

  it("reads boards of several pages, and a card that a shifted page hid is not taken for a new one", async (t) => {
    const { github, board, ada, card, look } = await setUp(t);
    for (let index = 0; index < 150; index += 1) board.adds("Backlog");
    const last = board.adds("Todo", card(ada.opens({ title: "last" })));
    assert.equal((await look()).length, 1);
    for (let minute = 0; minute < 3; minute += 1) await look();
    // While the first page goes out, the last card is dragged to the top, and is on none that is read.
    let asked = 0;
    github.server.onSeen = ({ path }) => {
      if (path !== "/graphql") return;
      asked += 1;
      if (asked === 2) board.reorders(last, 0);
    };
    board.adds("Backlog");
    assert.deepEqual([...(await look()), ...(await look()), ...(await look())], []);
  });

  it("ignores with a word what is no issue of the repository", async (t) => {
    const { github, board, look, warnings } = await setUp(t);
    const other = github.repository("acme/site", {});
    const issue = github.person(other, "ada").opens({ title: "elsewhere" });
    board.adds("Todo", { repository: other, issue });
    board.adds("Todo");
    assert.deepEqual(await look(), []);
    assert.deepEqual(warnings, [
      'a card that came into "Todo" is ignored: acme/site#1 is not an issue of acme/app',
      'a card that came into "Todo" is ignored: it is a draft without an issue: convert it to an issue',
    ]);
    await look();
    assert.equal(warnings.length, 2, "once");
  });

  it("is trusted only where the config says so, and then not with what a stranger wrote after the move", async (t) => {
    const { board, ada, eve, card, look } = await setUp(t, { trustBoard: true });
    const issue = eve.opens({ title: "hers", body: "one" });
    board.adds("Todo", card(issue));
    board.adds("Todo", card(ada.opens({ title: "his" })));
    eve.edits(issue.number, { body: "two" });
    assert.deepEqual(told(await look()), [
      ["issue.moved", "hers", "Todo", undefined, true],
      ["issue.moved", "his", "Todo", undefined, undefined],
    ]);
  });

  it("brings a card later whose issue cannot be read now, the others at once, and no more than some in one look", async (t) => {
    const { github, board, ada, card, look, warnings } = await setUp(t);
    for (let index = 0; index < 25; index += 1) board.adds("Todo", card(ada.opens({ title: `new ${index}` })));
    github.server.faults.add({ kind: "error-before", on: /GET .*issues\/2$/ });
    assert.equal((await look()).length, 19);
    assert.match(warnings.join(), /is held back: .*issues\/2: GitHub says/);
    assert.equal((await look()).length, 6);
    assert.deepEqual([...(await look()), ...(await look())], []);
  });

  it("takes nothing of a look that failed", async (t) => {
    const { github, board, ada, card, ask, look } = await setUp(t);
    board.adds("Todo", card(ada.opens({ title: "new" })));
    for (const kind of ["error-before", "truncated", "cut-after", "secondary-limit"] as const) {
      github.server.faults.add({ kind, on: /POST .*graphql/ });
      await assert.rejects(async () => ask(), /the project acme\/1: GitHub (says|did not answer:) /);
    }
    assert.equal((await look()).length, 1);
  });

  it("says which column, project or permission is missing", async (t) => {
    const { board, ask, ...first } = await setUp(t);
    board.renames("Todo", "Ready");
    const missing = 'the project acme/1 has no column "Todo"; it has "Backlog", "Ready", "Done"';
    assert.deepEqual(await ask(), { success: false, error: missing });
    board.renames("Ready", "Todo");
    assert.deepEqual(await first.look(), [], "the same column is known again");
    const said = async (token: TokenOptions): Promise<string> => {
      const result = await (await setUp(t, { token, isNew: true })).ask();
      return "error" in result ? result.error : "ok";
    };
    assert.match(await said({ scopes: ["repo"] }), /^the token may not read the project acme\/1: .*'read:project'/);
    const kind = "fine-grained";
    assert.match(await said({ kind, permissions: { issues: "read" } }), /may not read .* not accessible/);
    assert.equal(await said({ kind, permissions: { organization_projects: "read", issues: "read" } }), "ok");
    first.github.world.projects.splice(0);
    assert.deepEqual(await ask(), {
      ...{ success: false, error: "the project acme/1 is not there, or the token may not see it" },
    });
  });
});
