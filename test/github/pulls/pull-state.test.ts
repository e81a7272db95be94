import assert from "node:assert/strict";
import { test } from "node:test";
import { needsOf } from "../../../src/github/pulls/pull-state.ts";

const TABLE: [isMergeable: boolean | undefined, state: string | undefined, needs: ReturnType<typeof needsOf>][] = [
  [undefined, "unknown", undefined],
  [undefined, undefined, undefined],
  [false, "dirty", "conflict"],
  [false, "DRAFT", "conflict"],
  [true, "draft", "nothing"],
  [true, "behind", "behind"],
  [true, "BEHIND", "behind"],
  [true, "blocked", "nothing"],
  [true, "clean", "nothing"],
  [true, undefined, "nothing"],
];

for (const [isMergeable, state, needs] of TABLE)
  test(`mergeable ${isMergeable}, ${state}: ${needs}`, () => assert.equal(needsOf(isMergeable, state), needs));
