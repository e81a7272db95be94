import assert from "node:assert/strict";
import { test } from "node:test";
import { hintLines } from "../../../src/cli/render/hint.ts";
import { errorLines } from "../../../src/cli/report-error.ts";
import { PrloomError } from "../../../src/kernel/errors.ts";

const HINT = "It must be a function:\n\n  export default () => ({\u001b[2J\n  });\n";

test("a hint of several lines is printed as lines, which can do nothing to a terminal", () => {
  const lines = ["  hint: It must be a function:", "", "      export default () => ({\\u{1b}[2J", "      });"];
  assert.deepEqual(hintLines(HINT), lines);
  const error = new PrloomError("plugin-failed", "No.", HINT);
  assert.deepEqual(errorLines(error, ["start"]), ["error: No. [plugin-failed]", ...lines]);
});
