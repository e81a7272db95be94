import { createHash, randomBytes } from "node:crypto";
import { ulid } from "ulid";

/** Source of identities; a test passes a counting one. */
export interface Ids {
  ulid(now: number): string;
  /** Lower-case hex, `bytes * 2` characters. */
  random(bytes: number): string;
}

export const systemIds: Ids = {
  ulid: (now) => {
    // At once: by itself it asks the system for each character.
    const bytes = randomBytes(16).values();
    return ulid(now, () => (bytes.next().value ?? 0) / 256);
  },
  random: (bytes) => randomBytes(bytes).toString("hex"),
};

export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** First characters of a sha256: enough to tell apart what lies in one repository. */
export function shortHash(data: string, length = 12): string {
  return sha256(data).slice(0, length);
}
