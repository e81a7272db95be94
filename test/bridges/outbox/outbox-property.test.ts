import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { DeliveryResult } from "../../../src/bridges/contract.ts";
import type { Routed } from "../../../src/bridges/outbox/outbox.ts";
import type { Action } from "../../../src/bus/types.ts";
import { comment, loadedBridge, onBench } from "../bridge-fixture.ts";

const OK: DeliveryResult = { success: true };
type Answer = "ok" | "throw" | "arrives-and-throws" | "down" | "refuse";

const answers = fc.array(fc.constantFrom<Answer>("ok", "throw", "arrives-and-throws", "down", "refuse"), {
  maxLength: 4,
});
const scripted = fc.record({
  token: fc.constantFrom("a", "b", "c"),
  answers,
  routing: fc.constantFrom("pass", "wait", "redirect", "block"),
});

describe("whatever bridges and hooks answer, and whenever the process is killed", () => {
  it("each action ends once, in order for its address, and nothing waits forever", () =>
    fc.assert(
      fc.asyncProperty(fc.array(scripted, { maxLength: 12 }), fc.array(fc.nat(30)), async (script, kills) => {
        await onBench(async (bench) => {
          const left = new Map(script.map((one, n) => [`x${n}`, [...one.answers]]));
          const arrived: string[] = [];
          const waited = new Set<string>();
          const desk = (name: string) =>
            loadedBridge(
              {
                actions: (_ctx, { id }): DeliveryResult => {
                  const answer = left.get(id)?.shift() ?? "ok";
                  if (answer === "down") return { success: false, error: "down", retryable: true };
                  if (answer === "refuse") return { success: false, error: "no", retryable: false };
                  if (answer === "throw") throw new Error("threw");
                  arrived.push(`${id}@${name}`);
                  if (answer === "arrives-and-throws") throw new Error("threw late");
                  return OK;
                },
                delivered: (_ctx, { id }) => arrived.includes(`${id}@${name}`),
              },
              { name },
            );
          const route = async ({ id, target }: Action): Promise<Routed> => {
            const { routing } = script[Number(id.slice(1))] ?? {};
            if (routing === "block") return { kind: "handled", by: "policy" };
            if (routing === "redirect") return { kind: "deliver", target: { ...target, target: "attic" } };
            if (routing === "pass" || waited.has(id)) return { kind: "deliver", target };
            waited.add(id);
            return { kind: "waiting", until: bench.now + 500 };
          };
          const bridges = [desk("desk"), desk("attic")];
          script.forEach(({ token }, n) => {
            bench.put(comment(`x${n}`, token));
          });
          await bench.deliver(bridges, { route });
          for (let n = 0; n < 60 && bench.bus.deferredSummary().count > 0; n += 1) {
            if (kills.includes(n)) {
              bench.reopen();
              await bench.deliver(bridges, { route });
            }
            await bench.later(60_000);
          }
          assert.equal(bench.bus.deferredSummary().count, 0);
          assert.equal(bench.bus.freshActions(1, () => true).length, 0);
          assert.equal(new Set(arrived).size, arrived.length, "nothing arrives twice");
          const dead = new Set(bench.bus.deadLetters().map(({ record }) => record));
          script.forEach(({ routing }, n) => {
            const got = arrived.filter((one) => one.startsWith(`x${n}@`));
            if (routing === "block") assert.deepEqual(got, []);
            else if (!dead.has(`x${n}`)) assert.deepEqual(got, [`x${n}@${routing === "redirect" ? "attic" : "desk"}`]);
          });
          for (const token of ["a", "b", "c"]) {
            for (const name of ["desk", "attic"]) {
              const order = arrived
                .filter((one) => one.endsWith(`@${name}`))
                .map((one) => Number(/\d+/.exec(one)?.[0]))
                .filter((n) => script[n]?.token === token && script[n]?.routing !== "wait");
              assert.deepEqual(
                order,
                order.toSorted((a, b) => a - b),
              );
            }
          }
        });
      }),
      { numRuns: 60 },
    ));

  it("a journal that cannot be written makes deliveries wait, and loses none", () =>
    onBench(async (bench) => {
      const got: string[] = [];
      const journal = join(bench.dir, "settled.jsonl");
      const loaded = loadedBridge({
        actions: (_ctx, { id }) => {
          got.push(id);
          if (id === "a1") {
            renameSync(journal, `${journal}.aside`);
            mkdirSync(journal);
          }
          return OK;
        },
      });
      bench.put(comment("a1"), comment("a2"));
      const outbox = await bench.deliver([loaded]);
      assert.deepEqual(got, ["a1"]);
      assert.match(bench.reports.join("\n"), /bad: deliveries wait, their journal failed/);
      assert.equal(outbox.nextAt(), bench.now + 1000);
      await bench.later(1000);
      assert.deepEqual(got, ["a1"]);
      rmdirSync(journal);
      renameSync(`${journal}.aside`, journal);
      await bench.later(2000);
      assert.deepEqual(got, ["a1", "a2"]);
      assert.deepEqual(bench.settlements("a1"), ["deliver:desk handled"]);
      assert.equal(outbox.nextAt(), undefined);
    }));
});
