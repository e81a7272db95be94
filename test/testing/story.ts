import { type TestContext, type TestOptions, test } from "node:test";

type Body = (context: TestContext) => void | Promise<void>;
type Step = (what: string, ...rest: [TestOptions, Body] | [Body]) => void;

/** Steps that build on each other in one world are one test: it runs alone, in any order with others, and as a whole. */
export function story(name: string): Step {
  const steps: [what: string, options: TestOptions, body: Body][] = [];
  test(name, async (context) => {
    for (const step of steps) await context.test(...step);
  });
  return (what, ...rest) => {
    const [options, body] = rest.length === 2 ? rest : [{}, rest[0]];
    steps.push([what, options, body]);
  };
}
