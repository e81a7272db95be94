import { type TestContext, type TestOptions, test } from "node:test";
import { seededRandom } from "./random.ts";
import { SEED, SEED_NOTE } from "./sample.ts";
import { THOROUGH } from "./thorough.ts";

type Body = (context: TestContext) => void | Promise<void>;

/**
 * A test that half of the ordinary runs have, drawn with the seed and its name, and the whole run always: of faults that
 * were found once, on ways that other tests of the ordinary run go as well.
 */
export function sometimes(name: string, ...rest: [TestOptions, Body] | [Body]): void {
  const [options, body] = rest.length === 2 ? rest : [{}, rest[0]];
  const skip = isDrawn(name) ? {} : { skip: `not drawn with ${SEED_NOTE}; npm run test:full has it` };
  void test(name, { ...options, ...skip }, body);
}

function isDrawn(name: string): boolean {
  const number = [...name].reduce((sum, letter) => Math.imul(sum, 31) + (letter.codePointAt(0) ?? 0), SEED);
  return THOROUGH || seededRandom(number).chance(0.5);
}
