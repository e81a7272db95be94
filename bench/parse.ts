import { fromMarkdown } from "mdast-util-from-markdown";
import { setTodoState } from "../src/plan/edit-plan.ts";
import { parsePlan } from "../src/plan/markdown/markdown.ts";
import { measurePairs, timedSync } from "./harness/measure.ts";
import { type Bench, result, type Sizes } from "./harness/result.ts";

function longPlan(todos: number): string {
  const items = Array.from(
    { length: todos },
    (_, at) => `- [ ] Do part ${at + 1} of \`the whole\`\n  In a *few* words, see [there](there.md).\n`,
  );
  return `## Title\n\nA long plan\n\n## TODO\n\n${items.join("")}\n## Progress Log\n\n- Written.\n`;
}

async function parsing(text: string, sizes: Sizes) {
  return result({
    name: "parse",
    what: `a plan with ${sizes.todos} TODOs`,
    floorIs: "the Markdown parser alone",
    gates: [{ what: "TODOs lost", counted: sizes.todos - parsePlan(text).todos.length, most: 0 }],
    budget: { ratio: 1.5 },
    times: await measurePairs({
      floor: () => timedSync(() => fromMarkdown(text)),
      ours: () => timedSync(() => parsePlan(text)),
      pairs: sizes.pairs,
    }),
  });
}

async function ticking(text: string, sizes: Sizes) {
  const todo = parsePlan(text).todos.at(-1)?.id ?? "";
  const ticked = setTodoState(text, todo, "done");
  const changed = [...text].filter((letter, at) => letter !== ticked[at]).length;
  return result({
    name: "parse",
    what: `a tick in a plan with ${sizes.todos} TODOs`,
    floorIs: "parsing the plan",
    gates: [{ what: "characters changed", counted: changed + Math.abs(ticked.length - text.length), most: 1 }],
    budget: { ratio: 1.5 },
    times: await measurePairs({
      floor: () => timedSync(() => parsePlan(text)),
      ours: () => timedSync(() => setTodoState(text, todo, "done")),
      pairs: sizes.pairs,
    }),
  });
}

export const parse: Bench = {
  name: "parse",
  run: async (sizes) => {
    const text = longPlan(sizes.todos);
    return [await parsing(text, sizes), await ticking(text, sizes)];
  },
};
