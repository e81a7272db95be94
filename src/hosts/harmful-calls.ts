import type { Denial } from "../governance/policy/denial.ts";
import type { OpenCall } from "./open-calls.ts";

const MAX_NAMED = 5;
const INSTEAD = "Write into the plan what should be changed there, and why.";

/** Calls that changed what is protected: they are not made again, and their agent is told. */
export class HarmfulCalls {
  /** By what they were. */
  readonly #denials = new Map<string, Denial>();
  /** Files that were put back when the answer was out already. */
  readonly #owed = new Set<string>();

  denialOf(digest: string | undefined): Denial | undefined {
    return digest === undefined ? undefined : this.#denials.get(digest);
  }

  /** What its agent is told, once that is put back; no call where none can be blamed. */
  changed(call: OpenCall | undefined, files: readonly string[]): string {
    if (files.length === 0) return "";
    this.#deny(call, files);
    if (!call) return blameless(files);
    return noteOf(`this changed ${namesOf(files)}`, ", and the same call is denied from now on");
  }

  /** The same where its agent has gone on. It is told with the next answer. */
  changedLater(call: OpenCall | undefined, files: readonly string[]): void {
    this.#deny(call, files);
    for (const file of files) this.#owed.add(file);
  }

  /** What is to be told still, once. */
  owed(): string {
    const files = [...this.#owed];
    this.#owed.clear();
    return files.length === 0 ? "" : blameless(files);
  }

  #deny(call: OpenCall | undefined, files: readonly string[]): void {
    if (!call || files.length === 0) return;
    const names = namesOf(files);
    this.#denials.set(call.digest, {
      rule: "protected paths",
      what: `This call changed ${names} when it was made before.`,
      why: "No role changes what is protected, by a script neither; it was put back.",
      useInstead: INSTEAD,
      evidence: `${names} differed from what they were when the run began`,
    });
  }
}

const namesOf = (files: readonly string[]): string => files.slice(0, MAX_NAMED).join(", ");

const blameless = (files: readonly string[]): string =>
  noteOf(`${namesOf(files)} changed with this call or shortly before it, by a script that still runs perhaps`, "");

const noteOf = (what: string, also: string): string =>
  `GOVERNANCE: ${what}, and no role changes what is protected. It is as it was again${also}. ${INSTEAD}`;
