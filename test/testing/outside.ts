import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { IntakeItem, LedgerEntry } from "./outside/service.ts";
import type { Project } from "./project.ts";

const MODULES = ["bridge.ts", "noter.ts", "recorder.ts", "service.ts"];
const FIXTURES = fileURLToPath(new URL("./outside", import.meta.url));

/** A world beyond the repository that bridges and plugins act on; what was done there stays done, whatever is killed. */
export interface Outside {
  /** Puts the next item into the intake of the repository, or of a plan. */
  put(item: IntakeItem, planId?: string): void;
  /** How many items were put there. */
  count(planId?: string): number;
  readonly sources: ReadonlyMap<string, string>;
  /** The plans of those items of the repository's intake that are for one, by number. */
  readonly forPlans: ReadonlyMap<number, string>;
  ledger(): LedgerEntry[];
}

/** Sets the outside up for a project: a global bridge, a bridge of plans, and a plugin of each scope. */
export function addOutside(project: Project, seed: number): Outside {
  const dir = join(project.home, "outside");
  const modules = join(project.root, "prloom", "outside");
  mkdirSync(modules, { recursive: true });
  for (const name of MODULES) cpSync(join(FIXTURES, name), join(modules, name));
  const config = { dir, seed };
  const bridge = (name: string): object => ({
    [name]: { module: "./prloom/outside/bridge.ts", config: { ...config, name }, pollEvery: "1s" },
  });
  const plugin = (name: string): object => ({ [name]: { module: `./prloom/outside/${name}.ts`, config } });
  project.config({
    globalBridges: bridge("outside"),
    bridges: bridge("forum"),
    globalPlugins: plugin("recorder"),
    plugins: plugin("noter"),
    // Kills count as attempts, and hundreds of them may meet the same record.
    bus: { retryMin: "50ms", retryMax: "500ms", maxAttempts: 1000 },
  });
  project.git("add", "-A");
  project.git("-c", "user.name=Person", "-c", "user.email=person@localhost", "commit", "-qm", "Set up the outside");
  const folderOf = (planId = "global"): string => join(dir, "intake", planId);
  const count = (planId?: string): number => {
    const folder = folderOf(planId);
    return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")).length : 0;
  };
  const sources = new Map<string, string>();
  const forPlans = new Map<number, string>();
  return {
    count,
    sources,
    forPlans,
    put(item, planId) {
      const folder = folderOf(planId);
      mkdirSync(folder, { recursive: true });
      const temporary = join(folder, "next.part");
      writeFileSync(temporary, JSON.stringify(item));
      const number = count(planId) + 1;
      renameSync(temporary, join(folder, `${number}.json`));
      if (item.kind === "post" && item.plan !== undefined) forPlans.set(number, item.plan);
      if (item.kind === "source") sources.set(item.source, item.text);
    },
    ledger() {
      const file = join(dir, "ledger.jsonl");
      const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
      return lines.map((line): LedgerEntry => JSON.parse(line));
    },
  };
}
