import type { BuiltinBridge } from "../../src/bridges/contract.ts";
import { loadConfig } from "../../src/config/load.ts";
import { loadExtensions } from "../../src/dispatcher/buses/extensions.ts";
import { openLoom } from "../../src/dispatcher/compose.ts";
import type { Loom } from "../../src/dispatcher/loom.ts";
import { openRepository } from "../../src/git/repository.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { systemIds } from "../../src/kernel/ids.ts";
import type { Project } from "./project.ts";

/** A clock that stands still until it is moved. */
export class BenchClock implements Clock {
  #now = Date.parse("2026-03-02T10:00:00Z");

  now(): number {
    return this.#now;
  }

  move(ms: number): void {
    this.#now += ms;
  }
}

/** Opens a project with its plugins and bridges, without a dispatcher that does anything by itself. */
export async function openHooked(
  project: Project,
  options: {
    readonly clock: Clock;
    readonly bridges?: readonly BuiltinBridge[];
    readonly environment?: Readonly<Record<string, string>>;
  },
): Promise<Loom> {
  const repo = await openRepository(project.root);
  const config = loadConfig(repo.root);
  const { clock, environment = {} } = options;
  const loom = openLoom({
    repo,
    paths: project.paths,
    settings: { config },
    clock,
    ids: systemIds,
    identity: {},
    environment,
  });
  loom.extensions.take(await loadExtensions(repo.root, config, options.bridges ?? []));
  return loom;
}
