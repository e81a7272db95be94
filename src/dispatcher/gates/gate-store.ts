import { join } from "node:path";
import { GATE_SCHEMA_VERSION, type GateRecord, gateRecordSchema } from "../../gate/gate-record.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { readTextIfExists } from "../../kernel/files.ts";
import { PARSED_ONCE } from "../../kernel/json.ts";
import { newerFormat, ownJsonIn } from "../../kernel/json-fields.ts";
import type { NewFile } from "../../kernel/write-together.ts";

/** The gates of all plans, by their ids. */
export interface Gates {
  /** Undefined for one that is not there. */
  get(gateId: string): GateRecord | undefined;
  /** The gate as a file, to be written together with what follows from it. */
  file(gate: GateRecord): NewFile;
}

export interface Gated {
  readonly gates: Gates;
}

/** Read once: only the owner of the repository writes them. */
export function openGates(folder: string): Gates {
  const known = new Map<string, GateRecord>();
  const pathOf = (gateId: string): string => join(folder, `${gateId}.json`);
  return {
    get(gateId) {
      const hit = known.get(gateId);
      if (hit) return hit;
      const path = pathOf(gateId);
      const text = readTextIfExists(path);
      if (text === undefined) return undefined;
      const gate = parseGate(text, path);
      known.set(gateId, gate);
      return gate;
    },
    file(gate) {
      known.delete(gate.gateId);
      const data = `${JSON.stringify(gate, null, 2)}\n`;
      return { path: pathOf(gate.gateId), data, onWritten: () => crashPoint("gate:written") };
    },
  };
}

/** One that cannot be read is not approved: the plan stands still until a person has looked at it. */
function parseGate(text: string, path: string): GateRecord {
  const value = ownJsonIn(text);
  const parsed = gateRecordSchema.safeParse(value, PARSED_ONCE);
  if (parsed.success) return parsed.data;
  const newer = newerFormat(path, value, GATE_SCHEMA_VERSION);
  if (newer) throw newer;
  const hint = "Move it away; the plan is then shown again.";
  throw new PrloomError("state-unreadable", `${path} is not a gate that can be read.`, hint);
}
