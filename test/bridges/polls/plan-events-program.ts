/** Polls a global bridge that has events for plans, until nothing is new. A test kills it at one moment after the other. */
import { join } from "node:path";
import { pollBridge } from "../../../src/bridges/polls/poll.ts";
import { Bench, loadedBridge } from "../bridge-fixture.ts";

const [dir = ""] = process.argv.slice(2);
const bench = new Bench({}, join(dir, "global"));
for (const plan of ["login", "search"]) bench.plans.set(plan, new Bench({ planId: plan }, join(dir, plan)));

const rest = { type: "card.moved", severity: "info", title: "", body: "" } as const;
const tracker = loadedBridge(
  {
    events: (_ctx, state) => {
      const n = typeof state === "number" ? state + 1 : 1;
      if (n > 3) return { events: [] };
      const source = { system: "tracker", kind: "issue", id: "search" };
      const events = [
        { ...rest, id: `login-${n}`, plan: "login" },
        { ...rest, id: `search-${n}`, source },
        { ...rest, id: `global-${n}` },
        { ...rest, id: `lost-${n}`, plan: "gone" },
      ];
      return { events, state: n };
    },
  },
  { name: "tracker", kind: "global" },
);

for (let n = 0; n < 4; n += 1) {
  const { failed } = await pollBridge(bench.services, { bus: bench.bus }, tracker);
  if (failed !== undefined) throw new Error(failed);
}
for (const one of [bench, ...bench.plans.values()]) one.log.close();
