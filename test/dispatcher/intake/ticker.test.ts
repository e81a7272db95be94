import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { addInboxPlans, inFolder, makeProject, type Project, planId } from "../../../bench/harness/project.ts";
import type { Progress } from "../../../src/dispatcher/capabilities.ts";
import type { OwnedLoom } from "../../../src/dispatcher/compose.ts";
import { takeWholeInbox } from "../../../src/dispatcher/intake/intake.ts";
import { createTicker, type Ticker, wakeAll } from "../../../src/dispatcher/intake/ticker.ts";
import { updateRecord } from "../../../src/dispatcher/records.ts";
import { Scheduler } from "../../../src/dispatcher/steps/scheduler.ts";
import { withLoom } from "../buses/owned-loom.ts";

interface Ticking {
  readonly project: Project;
  readonly loom: OwnedLoom;
  readonly scheduler: Scheduler;
  readonly ticker: Ticker;
  /** Plans that were woken, sorted, since it was asked last. */
  woken(): Promise<string[]>;
  /** Resolves when a look that was asked for is over. */
  lookedAt(): Promise<void>;
  readonly told: Progress[];
  /** How often there was news for the global bus. */
  news(): number;
}

/** A ticker over a real repository with plans in its inbox, and a scheduler that looks at plans and decides nothing. */
function ticking(ids: readonly string[], use: (world: Ticking) => Promise<void>, stillOwner = true): Promise<void> {
  return inFolder(async (dir) => {
    const project = makeProject(dir);
    addInboxPlans(project, ids, {});
    const told: Progress[] = [];
    const looks = new Set<string>();
    let news = 0;
    let quiet = Promise.withResolvers<void>();
    const onQuiet = (): void => {
      quiet.resolve();
      quiet = Promise.withResolvers();
    };
    const onLook = ({ id }: { id: string }): boolean => {
      looks.add(id);
      return false;
    };
    const owner = { stillOwner: () => stillOwner };
    await withLoom(
      project.root,
      async (loom) => {
        const scheduler = new Scheduler(loom, { ...owner, onLook, onStep: () => undefined, onQuiet: () => undefined });
        const ticker = createTicker(loom, scheduler, { ...owner, onQuiet, onNews: () => (news += 1) });
        const woken = async (): Promise<string[]> => {
          await scheduler.settled();
          const seen = [...looks].sort();
          looks.clear();
          return seen;
        };
        const lookedAt = (): Promise<void> => quiet.promise;
        await use({ project, loom, scheduler, ticker, woken, lookedAt, told, news: () => news });
        scheduler.stop();
      },
      (progress) => told.push(progress),
    );
  });
}

const TEXT = "## TODO\n\n- [ ] Do it\n";

test("a full look takes the inbox, wakes what is new, and tells what happened to plans", () =>
  ticking(["a", "b"], async ({ loom, ticker, woken, news }) => {
    await ticker.full();
    assert.deepEqual(await woken(), ["a", "b"]);
    assert.equal(loom.store.byId("a")?.status, "draft");
    assert.equal(news(), 1);
    await ticker.full();
    assert.deepEqual(await woken(), [], "nothing changed since");
    assert.equal(news(), 1);
  }));

test("a record that another process wrote wakes its plan at the next full look", () =>
  ticking(["a", "b"], async ({ project, loom, ticker, woken }) => {
    await ticker.full();
    await woken();
    const file = `${project.paths.plans}/a/state.json`;
    const record = loom.store.byId("a");
    assert.ok(record);
    writeFileSync(file, JSON.stringify({ ...record, hidden: true, revision: record.revision + 1 }));
    await ticker.full();
    assert.ok((await woken()).includes("a"));
  }));

test("many that ask at once get one look, at the plans that they name", () =>
  ticking(["a", "b"], async ({ project, loom, ticker, woken, lookedAt }) => {
    const looked = lookedAt();
    for (let asks = 0; asks < 10; asks += 1) ticker.soon("a");
    assert.equal(ticker.quiet(), false);
    await looked;
    assert.equal(ticker.quiet(), true);
    assert.deepEqual(await woken(), ["a"]);
    assert.equal(loom.store.byId("b"), undefined, "it was not asked for");
    rmSync(`${project.paths.inbox}/a.md`);
    rmSync(`${project.paths.inbox}/a.json`);
    const again = lookedAt();
    ticker.soon("a");
    await again;
    assert.equal(loom.store.byId("a")?.deleted?.reason, "file_removed");
  }));

test("who asks for everything, or names very many, has the whole inbox looked at", async () => {
  await ticking(["a", "b"], async ({ ticker, woken, lookedAt }) => {
    const looked = lookedAt();
    ticker.soon("a");
    ticker.soon();
    await looked;
    assert.deepEqual(await woken(), ["a", "b"]);
  });
  await ticking(["a"], async ({ ticker, woken, lookedAt }) => {
    const looked = lookedAt();
    for (let number = 0; number <= 100; number += 1) ticker.soon(planId(number));
    await looked;
    assert.deepEqual(await woken(), ["a"]);
  });
});

test("the look that finds what was missed also wakes plans that wait for others", () =>
  ticking(["a", "b"], async ({ project, ticker, woken, lookedAt }) => {
    writeFileSync(`${project.paths.inbox}/b.json`, JSON.stringify({ status: "queued" }));
    await ticker.full();
    await woken();
    const looked = lookedAt();
    await ticker.safety();
    await looked;
    assert.deepEqual(await woken(), ["b"]);
  }));

test("a branch that a person merged by hand wakes its plan", () =>
  ticking(["a"], async ({ project, loom, ticker, woken }) => {
    const git = (...args: string[]): string =>
      execFileSync("git", ["-c", "user.name=Person", "-c", "user.email=person@localhost", ...args], {
        cwd: project.root,
        env: project.env,
        encoding: "utf8",
      }).trim();
    takeWholeInbox(loom, loom.inbox.scan());
    const baseSha = git("rev-parse", "main");
    updateRecord(loom, "a", () => ({
      status: "review",
      inInbox: false,
      ...{ branch: "prloom/a", baseBranch: "main", baseSha },
      changeRequest: { forge: "local", ref: "a", state: "open", ready: true },
    }));
    await ticker.full();
    await woken();
    git("checkout", "-q", "-b", "prloom/a");
    writeFileSync(`${project.root}/src/new.txt`, "new\n");
    git("add", "src/new.txt");
    git("commit", "-qm", "Work");
    git("checkout", "-q", "main");
    await ticker.full();
    assert.deepEqual(await woken(), [], "its base stands where it stood");
    git("merge", "-q", "--no-ff", "-m", "Merge", "prloom/a");
    await ticker.full();
    assert.deepEqual(await woken(), ["a"]);
    assert.equal(loom.store.byId("a")?.changeRequest?.state, "merged");
  }));

test("who owns the repository no longer, and who is about to stop, looks at nothing", async () => {
  await ticking(
    ["a"],
    async ({ loom, ticker }) => {
      await ticker.full();
      assert.equal(loom.store.byId("a"), undefined);
    },
    false,
  );
  await ticking(["a"], async ({ loom, ticker }) => {
    loom.beginStop();
    ticker.soon("a");
    assert.equal(ticker.quiet(), true);
    await ticker.full();
    assert.equal(loom.store.byId("a"), undefined);
  });
});

test("at a start only plans are woken that may have something to do", () =>
  ticking(["a", "b", "c"], async ({ project, loom, scheduler, woken }) => {
    writeFileSync(`${project.paths.inbox}/b.json`, JSON.stringify({ status: "queued" }));
    writeFileSync(`${project.paths.inbox}/c.md`, TEXT);
    takeWholeInbox(loom, loom.inbox.scan());
    loom
      .bus("c")
      .appendEvents([{ id: "said", source: "local", type: "comment", severity: "info", title: "Said", body: "Hello" }]);
    assert.deepEqual(wakeAll(loom, scheduler).sort(), ["b", "c"]);
    assert.deepEqual(await woken(), ["b", "c"]);
  }));
