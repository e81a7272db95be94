import type { Outside } from "../../testing/outside.ts";
import type { Project } from "../../testing/project.ts";
import type { Random } from "../../testing/random.ts";
import type { ExpectedPlan } from "../invariants/invariants.ts";
import { plansOfSource } from "../invariants/source-invariants.ts";

/** What happens outside while the dispatcher works and is killed. */
export interface OutsideEvents {
  /** The sources appear, so that each has its plan from the beginning. */
  begin(): void;
  /** Some posts, notes for plans, or new texts of sources; sometimes nothing. */
  happen(): void;
  expectedPlans(project: Project): ExpectedPlan[];
}

const SOURCES = ["north", "south"];
/** Hundreds of kills must not make hundreds of TODOs. */
const MAX_TODOS = 4;
const TODO_EVERY = 3;
/** Brackets tell the recorder what to do with its answer. */
const POSTS = ["", "[echo]", "[redirect]", "[block]", "[notify]", "[echo] [redirect]"];

/** Items are drawn from `random`; notes go to the named plans, texts to sources with plans of their own. */
export function outsideEvents(outside: Outside, random: Random, planIds: readonly string[]): OutsideEvents {
  const versions = new Map(SOURCES.map((source) => [source, 0]));
  let count = 0;
  const change = (source: string): void => {
    const version = (versions.get(source) ?? 0) + 1;
    versions.set(source, version);
    outside.put({ kind: "source", source, status: "queued", text: textOf(source, version) });
  };
  const one = (): void => {
    count += 1;
    const kind = random.pick(["post", "post", "note", "source"] as const);
    if (kind === "post") outside.put({ kind, body: `post ${count} ${random.pick(POSTS)}` });
    else if (kind === "note") outside.put({ kind: "post", body: `/note ${count}` }, random.pick(planIds));
    else change(random.pick(SOURCES));
  };
  return {
    begin: () => SOURCES.forEach(change),
    happen() {
      for (let left = random.between(0, 2); left > 0; left -= 1) one();
    },
    expectedPlans: (project) =>
      SOURCES.map((source) => ({
        id: plansOfSource(project, source)[0] ?? "",
        todos: todosOf(source, versions.get(source) ?? 0),
        said: [],
      })),
  };
}

function todosOf(source: string, version: number): string[] {
  const length = Math.min(MAX_TODOS, 1 + Math.floor(version / TODO_EVERY));
  return Array.from({ length }, (_, index) => `make ${source} ${index + 1}`);
}

/** TODOs only ever grow, so that what is done once stays wanted. */
function textOf(source: string, version: number): string {
  const items = todosOf(source, version).map((todo) => `- [ ] ${todo}\n`);
  return `# The ${source}\n\nVersion ${version}.\n\n## TODO\n\n${items.join("")}`;
}
