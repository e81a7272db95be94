import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Where the outside world lies, and how its moods are drawn. */
export interface ServiceConfig {
  readonly dir: string;
  readonly seed: number;
}

/** What the test put into the intake; its number is the name of its file. */
export type IntakeItem =
  /** `plan`: what the repository's intake has for a plan. */
  | { readonly kind: "post"; readonly body: string; readonly plan?: string }
  | {
      readonly kind: "source";
      readonly source: string;
      readonly text: string;
      readonly status: "draft" | "queued";
    };

/** One effect, as the ledger has it: a line that is never taken back. */
export type LedgerEntry =
  | {
      readonly what: "delivered";
      readonly bridge: string;
      readonly action: string;
      readonly token: string;
      readonly message: string;
      readonly marker: string;
    }
  | { readonly what: "hook"; readonly plugin: string; readonly point: string; readonly record: string };

/** `unavailable`: it says so and does nothing. `lost`: it does what it is asked, and the answer never arrives. */
export type Mood = "fine" | "slow" | "unavailable" | "lost";

/** A service that is not ours: it remembers what was done to it, is slow at times, and fails at times. */
export interface Service {
  append(entry: LedgerEntry): void;
  /** Whether something with this mark was delivered. */
  has(marker: string): boolean;
  itemsAfter(folder: string, number: number): { readonly number: number; readonly item: IntakeItem }[];
  /** How it answers this time. The same calls in the same order meet the same moods; a kill in between changes nothing. */
  mood(call: string): Mood;
  /** Takes its time, then throws when the answer is lost. */
  answer(mood: Mood): Promise<void>;
}

/** Of a hundred calls: not available, done but the answer is lost, slow. */
const [UNAVAILABLE, LOST, SLOW] = [6, 12, 24];

export function openService({ dir, seed }: ServiceConfig): Service {
  const ledger = join(dir, "ledger.jsonl");
  const calls = join(dir, "calls");
  mkdirSync(calls, { recursive: true });
  const number = (text: string): number => createHash("sha256").update(`${seed} ${text}`).digest().readUInt32BE(0);
  return {
    append: (entry) => appendFileSync(ledger, `${JSON.stringify(entry)}\n`),
    has: (marker) => existsSync(ledger) && readFileSync(ledger, "utf8").includes(JSON.stringify(marker)),
    itemsAfter(folder, after) {
      const path = join(dir, "intake", folder);
      const names = existsSync(path) ? readdirSync(path).filter((name) => /^\d+\.json$/.test(name)) : [];
      return names
        .map((name) => Number.parseInt(name, 10))
        .filter((found) => found > after)
        .toSorted((a, b) => a - b)
        .map((found) => ({ number: found, item: JSON.parse(readFileSync(join(path, `${found}.json`), "utf8")) }));
    },
    mood(call) {
      if (process.env.OUTSIDE_CALM !== undefined) return "fine";
      const file = join(calls, createHash("sha256").update(call).digest("hex").slice(0, 24));
      appendFileSync(file, ".");
      const drawn = number(`${call} ${statSync(file).size}`) % 100;
      if (drawn < UNAVAILABLE) return "unavailable";
      if (drawn < LOST) return "lost";
      return drawn < SLOW ? "slow" : "fine";
    },
    async answer(mood) {
      if (mood === "slow") await sleep(40);
      if (mood === "lost") throw new Error("the connection was closed before the answer came");
    },
  };
}
