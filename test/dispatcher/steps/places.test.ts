import assert from "node:assert/strict";
import { test } from "node:test";
import { Places } from "../../../src/dispatcher/steps/places.ts";

/** A queue for agents, of which `free` are free, and the plans that were asked. */
function placesWith({ free, held = [] }: { free: number; held?: readonly string[] }) {
  const state = { free, asked: [] as string[] };
  const places = new Places({
    isFree: () => state.free > 0,
    ask: (id) => !held.includes(id) && state.asked.push(id) > 0,
  });
  /** As a plan does that was asked: it takes the place, or goes on waiting. */
  const answer = (id: string, takes: boolean): void => {
    if (takes) {
      state.free -= 1;
      places.waits(id, undefined);
    }
    places.answered(id);
  };
  return { places, state, answer };
}

test("a place is offered to the plan that waits longest, and to no other once it is taken", () => {
  const { places, state, answer } = placesWith({ free: 1 });
  for (const id of ["c", "a", "b"]) places.waits(id, "agent");
  places.waits("c", "agent");
  places.offer("agent");
  assert.deepEqual(state.asked, ["c"], "that it waits still does not put it behind the others");
  answer("c", true);
  assert.deepEqual(state.asked, ["c"]);
  assert.deepEqual(places.queue("agent"), ["a", "b"]);
});

test("who cannot use a place leaves it to the next, and so do plans that cannot be asked", () => {
  const { places, state, answer } = placesWith({ free: 1, held: ["held"] });
  for (const id of ["busy", "held", "paused", "last"]) places.waits(id, "agent");
  places.offer("agent");
  answer("busy", false);
  assert.deepEqual(state.asked, ["busy", "paused"]);
  places.waits("paused", undefined);
  answer("paused", false);
  assert.deepEqual(state.asked, ["busy", "paused", "last"]);
  answer("last", true);
  assert.deepEqual(places.queue("agent"), ["busy", "held"]);
});

test("several places go to as many plans, and one that becomes free meanwhile begins with the first again", () => {
  const { places, state, answer } = placesWith({ free: 2 });
  for (const id of ["a", "b", "c"]) places.waits(id, "agent");
  places.offer("agent");
  answer("a", false);
  places.offer("agent");
  assert.deepEqual(state.asked, ["a", "b"], "b is asked already");
  answer("b", true);
  answer("a", true);
  assert.deepEqual(state.asked, ["a", "b", "a"]);
});

test("where none is free no plan is asked; a plan waits for one kind of place at a time", () => {
  const { places, state } = placesWith({ free: 0 });
  places.waits("a", "open");
  places.waits("a", "agent");
  places.offer("agent");
  assert.deepEqual(state.asked, []);
  assert.deepEqual([places.queue("open"), places.queue("agent")], [[], ["a"]]);
  assert.equal(places.isWaiting("a"), true);
  places.waits("a", undefined);
  assert.equal(places.isWaiting("a"), false);
});
