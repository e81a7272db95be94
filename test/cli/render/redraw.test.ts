import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLogUpdate } from "log-update";
import { screenAfter } from "../../testing/screen.ts";

const HEAD = "PLAN     TODO";
const BELOW = ["", "dispatcher: running", "sandbox: bubblewrap"];

/** Each follows the one before it, as plans come and go while `status --watch` and the block of `start` are shown. */
const FRAMES: readonly (readonly string[])[] = [
  [HEAD, "first    0/1", "second   0/1", ...BELOW],
  [HEAD, "first    0/1", ...BELOW],
  [HEAD, "first    0/1", "second   0/1", "third    0/1", ...BELOW],
  [HEAD, "second   0/1", "third    1/1", ...BELOW, "today: <1 min"],
  [HEAD, "third    1/1", "", "today: <1 min"],
  ["", HEAD, "third    1/1"],
  ["", HEAD, "fourth   0/1", "third    1/1"],
  ["", HEAD, "third    1/1"],
];

describe("what is redrawn in a terminal", () => {
  it("is all that the terminal shows: a row that came moves the others, and one that went leaves no gap", () => {
    let printed = "";
    const stream = { columns: 60, rows: 20, write: (text: string) => (printed += text) };
    const block = createLogUpdate(stream as unknown as NodeJS.WriteStream, { showCursor: true });
    for (const frame of FRAMES) {
      block(frame.join("\n"));
      const shown = screenAfter(printed);
      while (shown.at(-1) === "") shown.pop();
      assert.deepEqual(shown, frame);
    }
  });
});
