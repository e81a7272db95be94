import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Model, startModel } from "../model/model.ts";
import type { Script } from "../model/script.ts";
import { makeProject, type Project } from "../project.ts";
import { type Installed, installProgram, type ProgramName } from "./programs.ts";
import { isolatedHome } from "./programs-home.ts";

/** A real agent program and how prloom is told to use it. */
export interface RealAgent {
  readonly program: ProgramName;
  /** `agents.<name>` but for what follows from the installed program and its home. */
  readonly config: {
    readonly adapter: string;
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly projectSettings?: boolean;
    readonly sandbox?: string;
  };
  /** How long it may need to begin on a busy machine. */
  readonly startSeconds: number;
  /** It may lose conversations by itself: then it must be told all, and the work be done all the same. */
  readonly forgets?: true;
}

/** A repository whose only agent is a real program that talks to a scripted model. */
export interface Bench {
  readonly model: Model;
  readonly project: Project;
  readonly program: Installed;
  /** The plan's words about why it does not go on. */
  blockedReason(id: string): string;
  /** All answers of agents are in this one; what is asked of it came from a run of this stage. */
  asked(stage: string): Model["requests"];
}

export interface BenchOptions {
  readonly script: Script;
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Makes benches for one program, and clears away all of them. */
export interface Workshop {
  /** Undefined when the program cannot be had; the test is then marked as skipped with the reason. */
  bench(t: TestContext, options: BenchOptions): Promise<Bench | undefined>;
  close(): Promise<void>;
}

/** Where the benches of one real agent are made. */
export function makeWorkshop(agent: RealAgent): Workshop {
  const ends: (() => Promise<void> | void)[] = [];
  return {
    async bench(t, options) {
      const program = await installProgram(agent.program);
      if ("missing" in program) {
        t.skip(program.missing);
        return undefined;
      }
      const model = await startModel(options.script);
      ends.push(() => model.close());
      const dir = mkdtempSync(join(foldersOf(agent), "prloom-real-"));
      ends.push(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));
      const { config } = isolatedHome(agent.program, model.url, join(dir, "home"));
      const env = { ...config.env, ...agent.config.env };
      const real = { ...agent.config, command: program.command, ...config, env };
      const project = makeProject({
        dir,
        config: { agents: { real }, stages: { default: "real" }, ...options.config, limits: options.limits ?? {} },
      });
      ends.push(() => project.remove());
      return benchOf(model, project, program);
    },
    async close() {
      for (const end of ends.reverse()) await end();
    },
  };
}

/** Codex does not set up its tools when its home is below the folder for temporary files. */
function foldersOf({ program }: RealAgent): string {
  return program === "codex" ? "/var/tmp" : tmpdir();
}

function benchOf(model: Model, project: Project, program: Installed): Bench {
  return {
    model,
    project,
    program,
    blockedReason(id) {
      const { blocked } = project.record(id);
      assert(blocked, `${id} is not blocked`);
      return `${blocked.reason}\n${blocked.hint ?? ""}`;
    },
    asked: (stage) => model.asked().filter(({ prompt }) => prompt.stage === stage),
  };
}
