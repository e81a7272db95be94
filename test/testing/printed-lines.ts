import assert from "node:assert/strict";
import fc from "fast-check";
import type { Dialogue, Heard } from "../../src/agents/dialogue/dialogue.ts";
import { usualPermit } from "../../src/agents/dialogue/permit.ts";
import type { AgentEvent, Permission, PermitRequest } from "../../src/agents/port.ts";
import { samples } from "../testing/sample.ts";
import { eventLine } from "./event-line.ts";

type PermitNow = (request: PermitRequest) => Permission;

/** What a line means, with what follows from the answer where the program asks. */
function readAll(talk: Dialogue, line: string, permit: PermitNow): Heard[] {
  const all = [talk.read(line)];
  for (const { ask } of all) if (ask) all.push(ask.answer(permit(ask.request)));
  return all;
}

/** What a dialogue makes of lines: events, what it tells the program, and that it closes its stdin. */
export function heard(talk: Dialogue, lines: readonly string[], permit: PermitNow = usualPermit(false)): string[] {
  const all = lines
    .flatMap((line) => readAll(talk, line, permit))
    .flatMap(({ events, write = [], end }) => {
      return [...events.map(eventLine), ...write.map((one) => `> ${one}`), ...(end ? ["> end"] : [])];
    });
  return [...all, ...(talk.close?.() ?? []).map(eventLine)];
}

/** What is known about the lines of a program: made-up ones are most dangerous when they look like them. */
export interface LineWords {
  readonly types: readonly string[];
  readonly keys: readonly string[];
  /** Real output, from which pieces are cut. */
  readonly recorded: readonly string[];
}

function madeUpLine({ types, keys, recorded }: LineWords): fc.Arbitrary<string> {
  const odd: readonly unknown[] = [...types, null, true, -1, Number.POSITIVE_INFINITY, Number.NaN];
  const leaf = fc.oneof(fc.constantFrom(...odd), fc.string(), fc.double());
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie("tree")),
      fc.dictionary(fc.constantFrom("type", ...keys), tie("tree")),
    ),
  }));
  const text = recorded.join("\n");
  return fc.oneof(
    fc.string(),
    tree.map((value) => JSON.stringify(value) ?? ""),
    fc.tuple(fc.constantFrom(...types), tree).map(([type, value]) => JSON.stringify({ ...Object(value), type })),
    fc.nat(text.length).map((at) => text.slice(at, at + 400)),
    fc.constantFrom(...recorded),
  );
}

/** Checks that nothing that a program could print makes a dialogue throw, or give back what was spent. */
export function assertUnshaken(make: () => Dialogue, words: LineWords): void {
  const lines = fc.array(madeUpLine(words));
  const told = (talk: Dialogue, printed: readonly string[]): AgentEvent[] => [
    ...printed.flatMap((one) => readAll(talk, one, usualPermit(false)).flatMap(({ events }) => events)),
    ...(talk.close?.() ?? []),
  ];
  const check = (printed: readonly string[]): void => {
    for (const event of told(make(), printed)) {
      if (event.type !== "usage") continue;
      const { input, output, cached = 0, costUsd = 0 } = event;
      const numbers = [input, output, cached, costUsd];
      assert(
        numbers.every((one) => Number.isFinite(one) && one >= 0),
        JSON.stringify(event),
      );
    }
  };
  fc.assert(fc.property(lines, check), { numRuns: samples(300) });
}
