/**
 * Polls a bridge and delivers what it asks for until nothing is left, then ends with 0. Run again and again by a test
 * that kills it at one moment after the other; what reaches the outside is in a file of its own.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Routed } from "../../../src/bridges/outbox/outbox.ts";
import { pollBridge } from "../../../src/bridges/polls/poll.ts";
import type { Action } from "../../../src/bus/types.ts";
import { Bench, HOUR, loadedBridge } from "../bridge-fixture.ts";

const [dir = "", round = "0"] = process.argv.slice(2);
const bench = new Bench({ planId: "login" }, dir);
bench.now += Number(round) * HOUR;
const outside = join(dir, "outside.txt");
appendFileSync(outside, "");

const desk = (name: string) =>
  loadedBridge(
    {
      actions: (_ctx, { payload }) => {
        appendFileSync(outside, `${name} ${payload.type === "comment" ? payload.message : ""}\n`);
        return { success: true };
      },
      delivered: (_ctx, { payload }) =>
        payload.type === "comment" && readFileSync(outside, "utf8").includes(` ${payload.message}\n`),
    },
    { name },
  );
const tracker = loadedBridge(
  {
    events: (_ctx, state) => {
      const n = typeof state === "number" ? state + 1 : 1;
      if (n > 3) return { events: [], state: n - 1 };
      const event = { id: `e${n}`, source: "", type: "card.moved", severity: "info" as const, title: "", body: "" };
      const ask = (message: string, token: string) => ({
        target: { target: "desk", token },
        payload: { type: "comment" as const, message },
        relatedEventId: event.id,
      });
      return {
        events: [event, { ...event, id: `bad-${n}`, severity: "loud" as "info" }],
        state: n,
        actions: [ask(`plain-${n}`, "a"), ask(`moved-${n}`, "b"), ask(`no-${n}`, "a")],
      };
    },
    repair: (_ctx, item) => ({ ...(item as object), severity: "info" }),
  },
  { name: "tracker" },
);

/** beforeRoute: throws once about what is moved, then sends it to the attic; blocks what begins with no. */
async function route({ id, payload, target }: Action): Promise<Routed> {
  const { bus } = bench;
  const handler = "beforeRoute:policy";
  const text = payload.type === "comment" ? payload.message : "";
  const waiting = (): Routed => ({ kind: "waiting", until: bus.waitOf(id, handler)?.until ?? 0 });
  const status = bus.handlerStatus(id, handler);
  if (status === "waiting") return waiting();
  if (status === "settled") return bus.results(id).get(handler) as unknown as Routed;
  if (text.startsWith("moved") && bus.waitOf(id, handler) === undefined) {
    bus.settle({ record: id, handler, outcome: "threw", reason: "not yet" }, { sync: false });
    return waiting();
  }
  const moved: Routed = { kind: "deliver", target: text.startsWith("moved") ? { ...target, target: "attic" } : target };
  const routed: Routed = text.startsWith("no") ? { kind: "handled", by: "policy" } : moved;
  const outcome = routed.kind === "handled" ? "handled" : "passed";
  bus.settle({ record: id, handler, outcome, result: JSON.parse(JSON.stringify(routed)) }, { sync: false });
  return routed;
}

await bench.deliver([desk("desk"), desk("attic")], { route });
for (let n = 0; n < 8; n += 1) {
  const { failed } = await pollBridge(bench.services, { bus: bench.bus, planId: "login" }, tracker);
  if (failed !== undefined) throw new Error(failed);
  if (n === 4) for (const { record } of bench.bus.deadLetters()) bench.bus.revive(record);
  await bench.later(5000);
}
bench.outbox?.stop();
if (bench.bus.deferredSummary().count > 0 || bench.bus.deadLetters().length > 0) process.exitCode = 1;
bench.log.close();
