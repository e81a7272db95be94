import assert from "node:assert/strict";
import { it } from "node:test";
import { makeSetBackDue, SOON_MS } from "../../../src/hooks/calls/slow-call.ts";
import { event, inTemporary, offer, onEvent, openWorld } from "../fixture.ts";

const HANDLER = "onEvent:one";

it("does not wait for days when the clock is set back, and counts the calls before that", () =>
  inTemporary(async (dir) => {
    let calls = 0;
    const broken = onEvent(() => {
      calls += 1;
      throw new Error("not yet");
    });
    const world = openWorld(dir);
    const bus = world.bus("p1");
    bus.appendEvents([event("e1")]);
    await offer(world, [broken]);
    const wait = bus.waitOf("e1", HANDLER);
    makeSetBackDue(bus, world.clock.now());
    assert.deepEqual(bus.waitOf("e1", HANDLER), wait, "the clock was not set back");
    world.clock.time -= 86_400_000;
    await offer(world, [broken]);
    assert.equal(calls, 1, "it waits");
    makeSetBackDue(bus, world.clock.now());
    world.clock.time += SOON_MS;
    await offer(world, [broken]);
    assert.equal(calls, 2);
    assert.deepEqual([bus.waitOf("e1", HANDLER)?.attempts, bus.waitOf("e1", HANDLER)?.reason], [2, "not yet"]);
  }));
