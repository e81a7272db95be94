import { dirname } from "node:path";
import { PrloomError } from "../kernel/errors.ts";
import { ensureDir, readTextIfExists, writeFileAtomic } from "../kernel/files.ts";
import { type BusState, busStateSchema } from "./bus-state.ts";

/** The snapshot, or undefined when there is none that can be used: then it is rebuilt from the journals. */
export function readStateFile(path: string): BusState | undefined {
  const text = readTextIfExists(path);
  if (text === undefined) return undefined;
  const value = parse(text);
  const version = typeof value === "object" && value !== null && "schemaVersion" in value ? value.schemaVersion : 0;
  if (typeof version === "number" && version > 1) {
    throw new PrloomError(
      "schema-newer",
      `${path} has format ${version}; this prloom knows format 1.`,
      "A newer prloom wrote it. Install that version or a later one; `prloom --version` prints this one.",
    );
  }
  const result = busStateSchema.safeParse(value);
  return result.success ? result.data : undefined;
}

/** Replaces the snapshot. */
export function writeStateFile(path: string, state: BusState): void {
  ensureDir(dirname(path));
  writeFileAtomic(path, `${JSON.stringify(state, null, 2)}\n`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
