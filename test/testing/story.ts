import { type TestContext, test } from "node:test";

type Step = (what: string, body: (context: TestContext) => void | Promise<void>) => void;

/** Steps that build on each other in one world are one test: it runs alone, in any order with others, and as a whole. */
export function story(name: string): Step {
  const steps: Parameters<Step>[] = [];
  test(name, async (context) => {
    for (const [what, body] of steps) await context.test(what, body);
  });
  return (...step) => {
    steps.push(step);
  };
}
