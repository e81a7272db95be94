import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCE = fileURLToPath(new URL("../../../src", import.meta.url));

export interface CrashPoint {
  readonly name: string;
  /** The shim is a process of its own and has a variable of its own. */
  readonly variable: "PRLOOM_CRASH_AT" | "PRLOOM_SHIM_CRASH_AT";
}

/** The kind of step that a point belongs to: `activate` of `activate:ready`. */
export function kindOf({ name }: CrashPoint): string {
  return name.split(/[:.-]/)[0]!;
}

function crashPoint(name: string): CrashPoint {
  return { name, variable: name.startsWith("shim-") ? "PRLOOM_SHIM_CRASH_AT" : "PRLOOM_CRASH_AT" };
}

/** Every point that the source names, found by reading it: a new one is covered from the day it is written. */
export function crashPoints(): CrashPoint[] {
  const points = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .toSorted()
    .flatMap((file) => {
      const text = readFileSync(join(SOURCE, file), "utf8");
      return [...text.matchAll(/\bcrashPoint\(\s*"([^"]+)"\s*\)/g)].map((match) => crashPoint(match[1]!));
    });
  return points.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
