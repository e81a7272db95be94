import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { PrloomError } from "../../../src/kernel/errors.ts";
import { sectionBody, setTodoState } from "../../../src/plan/edit-plan.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import { mergeUpsert } from "../../../src/plan/upserts/merge-upsert.ts";
import { samples } from "../../testing/sample.ts";
import { anyPlan } from "../arbitrary-plans.ts";

const todosOf = (text: string) => parsePlan(text).todos.map((todo) => `${todo.state} ${todo.text}`);

/** The merge, done once more as after a kill before the new base was kept, and once more after it. */
function merged(current: string, incoming: string, base: string): string {
  const result = mergeUpsert(current, incoming, base);
  assert.equal(mergeUpsert(result, incoming, base), result, "the same again");
  assert.equal(mergeUpsert(result, incoming, incoming), result, "the same again, with the base that it left");
  return result;
}

const BASE = "# Login\n\nWords.\n\n## TODO\n\n- [ ] a\n- [ ] b\n\n## Approach\n\nSome way.\n\n## Risks\n\nNone.\n";

test("what was added on either side is there, what the source dropped is gone, what we dropped stays away", () => {
  const current = BASE.replace("- [ ] b\n", "- [ ] b\n- [ ] from the plan\n").replace("- [ ] a\n", "- [x] a\n");
  const incoming = BASE.replace("- [ ] b\n", "- [ ] from the card\n");
  assert.deepEqual(todosOf(merged(current, incoming, BASE)), ["done a", "open from the card", "open from the plan"]);
  const reworded = BASE.replace("- [ ] b\n", "- [ ] better b\n");
  const added = BASE.replace("- [ ] b\n", "- [ ] b\n- [ ] c\n");
  assert.deepEqual(todosOf(merged(reworded, added, BASE)), ["open a", "open c", "open better b"]);
});

test("without a base an open TODO that the incoming text lacks is gone, as before", () => {
  const current = BASE.replace("- [ ] b\n", "- [ ] b\n- [ ] from the plan\n");
  assert.deepEqual(todosOf(mergeUpsert(current, `${BASE}\nx\n`)), ["open a", "open b"]);
});

test("sections: the side that changed one wins, and where both did, the source", () => {
  const current = BASE.replace("Words.", "Our words.").replace("Some way.", "Our way.").replace("None.", "Ours.");
  const incoming = BASE.replace("Some way.", "Their way.").concat("\n## More\n\nTheirs.\n");
  assert.equal(
    merged(current, incoming, BASE),
    "# Login\n\nOur words.\n\n## TODO\n\n- [ ] a\n- [ ] b\n\n## Approach\n\nTheir way.\n\n## Risks\n\nOurs.\n\n## More\n\nTheirs.\n",
  );
});

test("sections that we added stay where they stand, those that we removed stay away, those the source removed go", () => {
  const current = BASE.replace("## Risks\n\nNone.\n", "").replace("## TODO", "## Notes\n\nOurs.\n\n## TODO");
  const incoming = BASE.replace("## Approach\n\nSome way.\n\n", "").replace("- [ ] b\n", "- [ ] c\n");
  assert.equal(
    merged(current, incoming, BASE).trimEnd(),
    "# Login\n\nWords.\n\n## Notes\n\nOurs.\n\n## TODO\n\n- [ ] a\n- [ ] c",
  );
});

test("TODOs that the source left alone are ours to the letter, numbers included", () => {
  const base = "## TODO\n- [ ] a\n- [ ] b\n- [ ] c\n  after: 2\n";
  const current = "## TODO\n\nFirst things first.\n\n- [b] a\n  reason: no key\n- [ ] better b\n- [ ] c\n  after: 2\n";
  assert.equal(merged(current, `Words.\n\n${base}`, base), `Words.\n\n${current}`);
});

test("while the source counts TODOs, none of them goes away on our account", () => {
  const base = "## TODO\n- [ ] a\n- [ ] b\n- [ ] c\n  after: 2\n";
  const result = merged(base.replace("- [ ] a\n", ""), `${base}- [ ] d\n`, base);
  assert.deepEqual(todosOf(result), ["open a", "open b", "open c", "open d"]);
});

test("context: the side that changed it wins, mark and comments are as they are here", () => {
  const base = "## TODO\n- [ ] a\n  old\n- [ ] b\n  old\n";
  const current = "## TODO\n- [b] a\n  ours\n\n  more of ours\n- [x] b\n  old\n";
  const incoming = "## TODO\n1. [ ] a\n   old\n2. [ ] b\n   theirs\n3. [ ] c\n";
  const { todos } = parsePlan(merged(current, incoming, base));
  assert.deepEqual(
    todos.map(({ text, state, context }) => [text, state, context]),
    [
      ["a", "blocked", "ours\n\nmore of ours"],
      ["b", "done", "theirs"],
      ["c", "open", ""],
    ],
  );
});

test("the source drops its whole TODO section: what was added here and what is done stays", () => {
  const current = BASE.replace("- [ ] a\n", "- [x] a\n- [ ] from the plan\n");
  const incoming = BASE.replace("## TODO\n\n- [ ] a\n- [ ] b\n\n", "");
  assert.deepEqual(todosOf(merged(current, incoming, BASE)), ["done a", "open from the plan"]);
  assert.equal(merged(BASE, incoming, BASE), incoming);
  const never = "Words.\n";
  const designed = `${never}\n## TODO\n\n- [ ] designed\n`;
  assert.deepEqual(todosOf(merged(designed, "Other words.\n", never)), ["open designed"]);
});

const WORDS = ["a", "b", "c", "d", "e", "f"];
const todo = fc.record({ text: fc.constantFrom(...WORDS), context: fc.constantFrom("", "  why\n", "\n  more\n") });
const section = fc.record({
  name: fc.constantFrom("Approach", "Risks", "Title"),
  body: fc.constantFrom("One.", "Two."),
});
const parts: fc.Arbitrary<Parts> = fc.record({
  intro: fc.constantFrom("", "Words.\n\n", "# Top\n\nWords.\n\n"),
  todos: fc.uniqueArray(todo, { selector: ({ text }) => text, maxLength: 5 }),
  sections: fc.uniqueArray(section, { selector: ({ name }) => name, maxLength: 3 }),
});
interface Parts {
  readonly intro: string;
  readonly todos: readonly { readonly text: string; readonly context: string }[];
  readonly sections: readonly { readonly name: string; readonly body: string }[];
}

function written({ intro, todos, sections }: Parts): string {
  const items = todos.map(({ text, context }) => `- [ ] ${text}\n${context}`).join("");
  const rest = sections.map(({ name, body }) => `## ${name}\n\n${body}\n`).join("\n");
  return `${intro}## TODO\n\n${items}\n${rest}`;
}

test("property: the text of the source alone is the result when nothing changed here", () => {
  fc.assert(
    fc.property(parts, parts, (base, incoming) => {
      assert.equal(merged(written(base), written(incoming), written(base)), written(incoming));
      assert.equal(merged(written(incoming), written(base), written(base)), written(incoming));
    }),
    { numRuns: samples(200) },
  );
});

test("property: edits on both sides in different TODOs all survive, and no tick is lost", () => {
  const edit = fc.constantFrom("leave", "remove", "reword", "explain", "add below");
  const edits = fc.array(fc.tuple(fc.constantFrom("ours", "theirs"), edit), { minLength: 6, maxLength: 6 });
  fc.assert(
    fc.property(parts, edits, fc.boolean(), (base, plan, ticks) => {
      const side = (name: string): Parts => ({
        ...base,
        todos: base.todos.flatMap((one, at) => {
          const [who, what] = plan[at] ?? [];
          if (who !== name || what === "leave") return [one];
          if (what === "remove") return [];
          if (what === "reword") return [{ ...one, text: `${one.text} reworded` }];
          if (what === "explain") return [{ ...one, context: "  because\n" }];
          return [one, { text: `${one.text} added`, context: "" }];
        }),
      });
      const first = parsePlan(written(side("ours"))).todos[0];
      const current = ticks && first ? setTodoState(written(side("ours")), first.id, "done") : written(side("ours"));
      const result = parsePlan(merged(current, written(side("theirs")), written(base))).todos;
      const wanted = base.todos.flatMap(({ text, context }, at) => {
        const [, what] = plan[at] ?? [];
        if (what === "remove") return [];
        if (what === "reword") return [[`${text} reworded`, context.trim()]];
        if (what === "explain") return [[text, "because"]];
        const same = [text, context.trim()];
        return what === "add below" ? [same, [`${text} added`, ""]] : [same];
      });
      // What is ticked here stays, though the source dropped or reworded it.
      const ticked = first && ticks ? first.text : undefined;
      if (ticked !== undefined && !wanted.some(([text]) => text === ticked))
        wanted.push([ticked, first?.context ?? ""]);
      const found = result.map(({ text, context }) => [text, context.trim()]);
      assert.deepEqual(found.sort(), wanted.map(([text = "", context = ""]) => [text, context.trim()]).sort());
      if (ticked !== undefined) assert.equal(result.find(({ text }) => text === ticked)?.state, "done");
    }),
    { numRuns: samples(300) },
  );
});

test("property: a section that one side changed is as that side has it", () => {
  fc.assert(
    fc.property(parts, fc.constantFrom("Approach", "Risks"), (base, name) => {
      const full = { ...base, sections: ["Approach", "Risks"].map((one) => ({ name: one, body: "One." })) };
      const other = name === "Risks" ? "Approach" : "Risks";
      const changed = (which: string, body: string): string =>
        written({ ...full, sections: full.sections.map((one) => (one.name === which ? { ...one, body } : one)) });
      const result = merged(changed(name, "Ours."), changed(other, "Theirs."), written(full));
      assert.equal(sectionBody(result, name), "Ours.");
      assert.equal(sectionBody(result, other), "Theirs.");
    }),
  );
});

test("property: whatever the three texts are, the merge can be repeated or is refused", () => {
  let refused = 0;
  let done = 0;
  fc.assert(
    fc.property(anyPlan, anyPlan, anyPlan, (current, incoming, base) => {
      try {
        merged(current, incoming, base);
        done += 1;
      } catch (error) {
        if (!(error instanceof PrloomError && error.code === "plan-invalid")) throw error;
        refused += 1;
      }
    }),
    { numRuns: samples(500) },
  );
  assert.ok(refused * 5 < done, `${refused} of ${done + refused} were refused`);
});
