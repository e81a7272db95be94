import { type TestContext, test } from "node:test";
import type { AgentAdapter, AgentEvent } from "../../../src/agents/port.ts";
import type { Script } from "../model/script.ts";
import { thorough } from "../thorough.ts";
import { installProgram, type ProgramName } from "./programs.ts";
import { only, type RealBench, realBench } from "./real-run.ts";

/** What a test of a real program works with. */
export interface Ready {
  readonly bench: RealBench;
  readonly adapter: AgentAdapter;
}

interface RealProgram {
  readonly program: ProgramName;
  adapter(spec: { name: string; command: string; projectSettings: boolean }): AgentAdapter;
  /** Settings without which the program would keep the test waiting. */
  prepare?(home: string): void;
  /** Words from the names of the tests that the ordinary run has, too: none of a program that starts slowly. */
  readonly brief?: readonly string[];
}

interface Plan {
  readonly script: Script;
  readonly projectSettings?: boolean;
}

/** The first test of a program may have to wait for its installation. */
const TIMEOUT_MS = 450_000;

/** Installs a real program; the tests that are made with the result are skipped with the reason where it cannot be had. */
export function realProgram({ program, adapter, prepare, brief = [] }: RealProgram) {
  return (name: string, plan: Plan, body: (ready: Ready, context: TestContext) => Promise<void>): void => {
    // The ordinary run has the suite through the CLI, and here only what that does not show.
    const options = brief.some((words) => name.includes(words)) ? {} : thorough;
    test(name, { timeout: TIMEOUT_MS, ...options }, async (context) => {
      const installed = await installProgram(program);
      if ("missing" in installed) return context.skip(installed.missing);
      const bench = await realBench(program, plan.script);
      prepare?.(bench.home);
      const { projectSettings = false } = plan;
      try {
        await body(
          { bench, adapter: adapter({ name: program, command: installed.command, projectSettings }) },
          context,
        );
      } finally {
        await bench.close();
      }
    });
  };
}

/** The kinds of the errors that a run told; whether the program tries again is a part of it. */
export function kindsOf(events: readonly AgentEvent[]): string[] {
  return only(events, "error").map(({ kind, retrying }) => (retrying ? `${kind}, again` : kind));
}
