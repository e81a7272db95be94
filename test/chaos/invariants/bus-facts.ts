import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { createFileLog } from "../../../src/bus/file/log.ts";
import { type Envelope, LOG_NAMES, type LogName, START } from "../../../src/bus/ports.ts";
import {
  type Action,
  actionSchema,
  type BusEvent,
  busEventSchema,
  type Scope,
  type Settlement,
  scopeOf,
  settlementSchema,
} from "../../../src/bus/types.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { listDir } from "../../../src/kernel/files.ts";
import type { Project } from "../../testing/project.ts";

/** What lies on disk of one bus, as plain data. */
export interface BusFacts {
  /** Absent: the repository's own. */
  readonly planId?: string;
  readonly events: readonly BusEvent[];
  readonly actions: readonly Action[];
  /** Handled or passed, one for each record that they name, in order. Those that came too late are among them. */
  readonly finals: readonly Final[];
  readonly dead: readonly Envelope[];
}

export interface Final {
  readonly record: string;
  readonly handler: string;
  readonly settlement: Told;
}

/** A settlement as the journal has it: its marks are what the bus made of those that it was given. */
export const toldSchema = settlementSchema.extend({ marks: z.unknown() });
type Told = Omit<Settlement, "marks">;

export function readLogs(project: Project, scope: Scope): Record<LogName, Envelope[]> {
  const { authority } = project;
  const root = ({ planId }: Scope): string =>
    planId === undefined ? join(authority, "bus") : join(authority, "plans", planId, "bus");
  const log = createFileLog({ root, clock: systemClock, readOnly: true });
  const read = (name: LogName): Envelope[] =>
    log.read({ scope, log: name }, START, 1_000_000).items.map(({ record }) => record);
  const all = Object.fromEntries(LOG_NAMES.map((name) => [name, read(name)])) as Record<LogName, Envelope[]>;
  log.close();
  return all;
}

/** The global bus, then those of the plans. */
export function allBuses(project: Project): BusFacts[] {
  const plans = listDir(join(project.authority, "plans")).filter((id) =>
    existsSync(join(project.authority, "plans", id, "bus")),
  );
  return [busFacts(project, undefined), ...plans.map((id) => busFacts(project, id))];
}

function busFacts(project: Project, planId: string | undefined): BusFacts {
  const logs = readLogs(project, scopeOf(planId));
  const settlements = logs.settled
    .filter(({ kind }) => kind === "settlement")
    .map(({ data }) => toldSchema.parse(data))
    .filter(({ outcome }) => outcome === "handled" || outcome === "passed");
  return {
    ...(planId === undefined ? {} : { planId }),
    events: logs.events.map(({ data }) => busEventSchema.parse(data)),
    actions: logs.actions.map(({ data }) => actionSchema.parse(data)),
    finals: settlements.flatMap((settlement) =>
      [settlement.record, ...(settlement.also ?? [])].map((record) => ({
        record,
        handler: settlement.handler,
        settlement,
      })),
    ),
    dead: logs.dead,
  };
}

/** The values that a plugin's memory has in its file, for a plan or for the repository. */
export function memoryOf(project: Project, plugin: string, planId?: string): Record<string, unknown> {
  const folder = planId === undefined ? "plugin-state-global" : join("plans", planId, "plugin-state");
  const file = join(project.authority, folder, `${plugin}.json`);
  if (!existsSync(file)) return {};
  return (JSON.parse(readFileSync(file, "utf8")) as { values: Record<string, unknown> }).values;
}
