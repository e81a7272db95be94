import { createServer } from "node:net";
import type { PlanRecord } from "../../plan/record.ts";
import { type Records, updateRecord } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";

/** As many ports as each open plan has for itself. */
const RANGE = 10;
const MAX_PORT = 65_535;

/** `41000-41009` */
export function portRange(firstPort: number): string {
  return `${firstPort}-${firstPort + RANGE - 1}`;
}

/** For a development server that runs beside those of other plans. */
export function portVariables({ firstPort }: Pick<PlanRecord, "firstPort">): Record<string, string> {
  if (firstPort === undefined) return {};
  return { PRLOOM_PORT: String(firstPort), PRLOOM_PORTS: portRange(firstPort) };
}

/** Gives a plan the first range that no other open plan has and in which every port is free. Where there is none, it gets none. */
export async function givePorts(loom: Records & Configured, record: PlanRecord): Promise<PlanRecord> {
  if (record.firstPort !== undefined) return record;
  let given = portsGiven(loom);
  for (let first = loom.config.ports.from; first + RANGE - 1 <= MAX_PORT; first += RANGE) {
    if (isGiven(given, first)) continue;
    const free = await Promise.all(portsFrom(first).map(isFree));
    // Another plan may have been given some while this one looked.
    given = portsGiven(loom);
    if (isGiven(given, first) || !free.every(Boolean)) continue;
    return updateRecord(loom, record.id, () => ({ firstPort: first }));
  }
  return record;
}

const portsFrom = (first: number): number[] => Array.from({ length: RANGE }, (_unused, at) => first + at);

/** The first port of each plan that has some. */
function portsGiven({ store }: Records): number[] {
  const { records } = store.list({ status: ["queued", "active", "review"] });
  return records.flatMap(({ firstPort, deleted }) => (firstPort === undefined || deleted ? [] : [firstPort]));
}

/** Ranges need not begin at the same step: the config may have changed meanwhile. */
function isGiven(given: readonly number[], first: number): boolean {
  return given.some((other) => Math.abs(other - first) < RANGE);
}

/** On every address: a server that listens on one of them is in the way of another on all of them. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
