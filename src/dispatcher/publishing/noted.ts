import type { Published } from "../../plan/record.ts";
import type { Publishing, Reporting, Stopping, Waking } from "../capabilities.ts";
import type { Located } from "../paths.ts";
import { type Records, updateRecord } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import type { Configured } from "../settings/pinned.ts";

/** What it takes to bring plans to a server. */
export type PublishingAtWork = Located & Configured & Records & AtWork & Publishing & Reporting & Stopping & Waking;

/** Writes down how much of a plan the server has. */
export function note(loom: Records, id: string, published: Partial<Published>): void {
  updateRecord(loom, id, (now) => ({ published: { ...now.published, ...published } }));
}
