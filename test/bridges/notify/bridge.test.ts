import assert from "node:assert/strict";
import { test } from "node:test";
import { resultOf } from "../../../src/bridges/notify/bridge.ts";
import type { NotifySettings } from "../../../src/bridges/notify/settings.ts";
import type { ActionPayload } from "../../../src/hooks/contexts/event-types.ts";
import { human, notice, setUp, startServer } from "./fixture.ts";

const webhook = (urlEnv: string) => ({ kind: "webhook", urlEnv }) as const;

test("without any configuration a notice is a line of progress", async () => {
  for (const notify of [undefined, { channels: {}, routes: {}, default: [] }]) {
    const { bridge, reports, deliver } = setUp({ notify });
    assert.deepEqual([bridge.name, bridge.targets, bridge.events], ["notify", ["human"], undefined]);
    assert.deepEqual(await deliver(notice({ priority: "urgent" }), { planId: "alpha" }), { success: true });
    assert.deepEqual(await deliver(notice({ priority: "info", message: "" })), { success: true });
    assert.deepEqual(reports, [
      { planId: "alpha", level: "bad", text: "Review it: Plan alpha" },
      { level: "info", text: "Review it" },
    ]);
  }
});

test("a line of progress cannot steer the terminal and is not endless", async () => {
  const { reports, deliver } = setUp({});
  await deliver(notice({ title: "\u001b[2J\u001b]0;x\u0007red\u202e\r\nline", message: `${"ä".repeat(5000)}\n\0` }));
  const { text } = reports[0]!;
  assert.match(text, /^red line: ä+…$/);
  assert.equal(text.length, 300);
});

test("routes choose the channels by priority, else the default; an empty route is silent", async (t) => {
  const server = await startServer(t);
  const notify: NotifySettings = {
    channels: { a: webhook("A"), b: webhook("B") },
    routes: { urgent: ["a", "b", "a"], info: [] },
    default: ["b"],
  };
  const { deliver } = setUp({ notify, environment: { A: server.url("/a"), B: server.url("/b") } });
  const paths = async (priority: "urgent" | "action" | "info") => {
    server.received.length = 0;
    assert.deepEqual(await deliver(notice({ priority })), { success: true });
    return server.received.map(({ path }) => path).sort();
  };
  assert.deepEqual(await paths("urgent"), ["/a", "/b"]);
  assert.deepEqual(await paths("action"), ["/b"]);
  assert.deepEqual(await paths("info"), []);
});

test("a comment to people is an info notice; everything else is refused by name", async (t) => {
  const server = await startServer(t);
  const notify: NotifySettings = { channels: { a: webhook("A") }, routes: { info: ["a"] }, default: [] };
  const { deliver } = setUp({ notify, environment: { A: server.url("/a") } });
  await deliver(human({ type: "comment", message: "hello" }), { planId: "alpha" });
  assert.deepEqual(server.received[0]?.body, {
    id: "act-1",
    planId: "alpha",
    priority: "info",
    title: "prloom: alpha",
    message: "hello",
    at: "2026-03-01T12:00:00.000Z",
  });
  const others: ActionPayload[] = [
    { type: "merge", method: "squash" },
    { type: "add_labels", labels: ["x"] },
    { type: "upsert_plan", source: { system: "s", kind: "k", id: "1" } },
  ];
  for (const payload of others) {
    assert.deepEqual(await deliver(human(payload)), {
      success: false,
      error: `the notify bridge cannot carry "${payload.type}"`,
      retryable: false,
    });
  }
  assert.equal(server.received.length, 1);
});

test("a channel that fails keeps no other from it, and a retry goes only to the rest", async (t) => {
  let isUp = false;
  const server = await startServer(t, (path, response) => {
    response.writeHead(path === "/gone" ? 410 : path === "/busy" && !isUp ? 503 : 200).end();
  });
  const notify: NotifySettings = {
    channels: { good: webhook("GOOD"), busy: webhook("BUSY"), gone: webhook("GONE"), mine: { kind: "terminal" } },
    routes: {},
    default: ["gone", "busy", "good", "mine"],
  };
  const environment = { GOOD: server.url("/good"), BUSY: server.url("/busy"), GONE: server.url("/gone") };
  const { reports, deliver } = setUp({ notify, environment });
  const paths = () => server.received.splice(0).map(({ path }) => path);

  const first = await deliver(notice());
  const error = "gone: it answered 410; busy: it answered 503";
  assert.deepEqual(first, { success: false, error, retryable: true });
  assert.deepEqual(paths().sort(), ["/busy", "/gone", "/good"]);
  assert.deepEqual(reports, [{ level: "warn", text: "Review it: Plan alpha" }]);

  await deliver(notice());
  assert.deepEqual(paths(), ["/busy"]);
  // Another notice is another matter.
  await deliver(notice({}, "act-2"));
  assert.deepEqual(paths().sort(), ["/busy", "/gone", "/good"]);

  isUp = true;
  reports.length = 0;
  assert.deepEqual(await deliver(notice()), { success: true });
  assert.deepEqual(paths(), ["/busy"]);
  assert.deepEqual(reports, [{ level: "warn", text: '"Review it" did not get everywhere: gone: it answered 410' }]);
});

test("what the outcomes of the channels mean together", () => {
  const ok = { is: "arrived" } as const;
  const no = { is: "refused", reason: "no" } as const;
  const later = (retryAfterMs?: number) =>
    ({ is: "transport", reason: "later", ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }) as const;
  const table = [
    [[], "success"],
    [[ok, ok], "success"],
    [[ok, no], "success"],
    [[no, no], "refused"],
    [[later(), later()], "retry"],
    [[ok, later()], "retry"],
    [[no, later()], "retry"],
    [[ok, no, later(10), later(20), later()], "retry 20"],
  ] as const;
  for (const [outcomes, expected] of table) {
    const names = outcomes.map((_, index) => `channel${index}`);
    const { delivery } = resultOf(names, new Map(outcomes.map((outcome, index) => [`channel${index}`, outcome])));
    const wait = delivery.success || delivery.retryAfterMs === undefined ? "" : ` ${delivery.retryAfterMs}`;
    const meaning = delivery.success ? "success" : `${delivery.retryable ? "retry" : "refused"}${wait}`;
    assert.equal(meaning, expected, JSON.stringify(outcomes));
  }
});

test("a route to a channel that does not exist is a refusal of that channel", async () => {
  for (const name of ["nobody", "constructor", "__proto__"]) {
    const notify: NotifySettings = { channels: { mine: { kind: "terminal" } }, routes: {}, default: [name] };
    const { deliver } = setUp({ notify });
    assert.deepEqual(await deliver(notice()), {
      success: false,
      error: `${name}: notify.channels has no such channel`,
      retryable: false,
    });
  }
});

test("notices that never get through do not pile up in memory", async (t) => {
  const server = await startServer(t, (path, response) => response.writeHead(path === "/busy" ? 503 : 200).end());
  const notify: NotifySettings = {
    channels: { busy: webhook("BUSY"), mine: { kind: "terminal" } },
    routes: {},
    default: ["busy", "mine"],
  };
  const { reports, deliver } = setUp({ notify, environment: { BUSY: server.url("/busy") } });
  await deliver(notice({}, "act-first"));
  await deliver(notice({}, "act-first"));
  assert.equal(reports.length, 1);
  for (let number = 0; number < 1000; number += 1) await deliver(notice({}, `act-${number}`));
  reports.length = 0;
  await deliver(notice({}, "act-999"));
  assert.equal(reports.length, 0);
  await deliver(notice({}, "act-first"));
  assert.equal(reports.length, 1);
});
