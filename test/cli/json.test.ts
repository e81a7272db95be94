import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { jsonText } from "../../src/cli/render/safe-text.ts";
import { makeProject } from "../testing/project.ts";

/** Everything but newlines that steers a terminal or turns the reading order. */
const STEERING = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u;

test("property: JSON has nothing that steers a terminal, and is read as the same", () => {
  const steering = fc.constantFrom(
    "\u009b",
    "\u0085",
    "\u007f",
    "\u001b[2J",
    "\u202e",
    "\u2067",
    "\u061c",
    "\ufeff",
    "\n",
  );
  const words = fc
    .array(fc.oneof(steering, fc.string({ unit: "binary" })), { maxLength: 6 })
    .map((all) => all.join(""));
  fc.assert(
    fc.property(
      fc.dictionary(words, fc.oneof(words, fc.array(words))),
      fc.constantFrom(undefined, 2),
      (value, indent) => {
        const text = jsonText(value, indent);
        assert.doesNotMatch(text, STEERING);
        assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
      },
    ),
  );
});

const project = makeProject();
after(() => project.remove());
const FORGED = "one \u009b2J\u202etwo\u0085 \u2066three\ufeff \u007f";

test("what commands print as JSON can be shown on a terminal, whatever plans, agents and people wrote", async () => {
  project.plan("p", [FORGED]);
  await project.cli(["comment", "p", `please ${FORGED}`]);
  const started = await project.cli(["start", "--until-idle", "--json"]);
  const commands = [
    ["status", "--json"],
    ["show", "p", "--json"],
    ["logs", "p", "--json"],
    ["logs", "p", "--json", "--raw"],
    ["events", "p", "--json"],
    ["events", "p", "--log", "actions", "--json"],
    ["show", FORGED, "--json"],
    ["comment", "p", FORGED, "--json"],
    ["block", "p", FORGED, "--json"],
  ];
  const printed = [started, ...(await Promise.all(commands.map((args) => project.cli(args))))];
  for (const [index, { stdout }] of printed.entries()) {
    const name = commands[index - 1]?.slice(0, 2).join(" ") ?? "start";
    assert.notEqual(stdout, "", name);
    assert.doesNotMatch(stdout, STEERING, name);
  }
  const shown = JSON.parse(printed[2]?.stdout ?? "") as { todos: { text: string }[] };
  assert.equal(shown.todos[0]?.text, FORGED.trim());
});
