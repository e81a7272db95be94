import { hostname } from "node:os";
import { join } from "node:path";
import type { ClaimHow, ClaimOutcome } from "../../git/remote/claim.ts";
import { isoTime } from "../../kernel/clock.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import { ensureDir, readTextIfExists, writeFileAtomic } from "../../kernel/files.ts";
import { isFields, jsonIn } from "../../kernel/json-fields.ts";
import { readJson } from "../../kernel/json-files.ts";
import { type PlanRecord, type PlanSource, sourceKey } from "../../plan/record.ts";
import type { Naming, Publishing, Stopping, Timing } from "../capabilities.ts";
import type { Located, Paths } from "../paths.ts";
import type { Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";

/** Something that another clone works on. */
export interface ClaimedElsewhere {
  readonly source: PlanSource;
  /** As people write it: `acme/app#12`. */
  readonly name: string;
  readonly by: string;
  /** When it was claimed, by the clock of that machine; "" where that is not known. */
  readonly at: string;
}

export type Claimant = Located & Configured & Naming & Timing & Publishing;

/** What came of asking for the right to make a plan. */
export type Claimed =
  | { readonly kind: "ours" }
  | { readonly kind: "theirs"; readonly claim: ClaimedElsewhere }
  | {
      readonly kind: "refused" | "failed";
      readonly reason: string;
      readonly retryAfterMs?: number;
      /** The account may not push there at all. */
      readonly mayNotWrite?: true;
    };

/**
 * Claims the source of a plan at the server before the plan is made, so that of two clones with a dispatcher one makes it. Killed between the two,
 * this clone finds its own claim.
 */
export async function claimFor(loom: Claimant, source: PlanSource, how: ClaimHow = "claim"): Promise<Claimed> {
  if (loom.forge.name === "local" || loom.config.github?.claim !== true) return { kind: "ours" };
  try {
    const claim = { ...claimerOf(loom), at: isoTime(loom.clock.now()) };
    const outcome = await (await loom.forge.server()).claim(source, claim, how);
    crashPoint("server:claimed");
    return settled(loom, source, outcome, how);
  } catch (error) {
    const { retryAfterMs } = error as { retryAfterMs?: unknown };
    const wait = typeof retryAfterMs === "number" ? { retryAfterMs } : {};
    return { kind: "failed", reason: messageOf(error), ...wait };
  }
}

/** What a claim came to; what another clone has is kept, for `prloom status` to show. */
function settled(
  loom: Located,
  source: PlanSource,
  outcome: (ClaimOutcome & { readonly name: string }) | undefined,
  how: ClaimHow,
): Claimed {
  const before = claimedElsewhere(loom);
  const others = before.filter((one) => sourceKey(one.source) !== sourceKey(source));
  if (outcome?.kind === "theirs") {
    const claim = { source, name: outcome.name, by: outcome.claim.name, at: outcome.claim.at };
    if (how !== "look") keepElsewhere(loom, [claim, ...others].slice(0, MAX_ELSEWHERE));
    return { kind: "theirs", claim };
  }
  if (others.length < before.length && how !== "look") keepElsewhere(loom, others);
  if (outcome === undefined || outcome.kind === "ours") return { kind: "ours" };
  return { ...outcome, reason: `claiming ${outcome.name}: ${outcome.reason}` };
}

/** Whether a plan was deleted whose claim may still be there. A plan that is done keeps its claim: no other is made of its source. */
export function isToBeReleased(loom: Publishing & Configured, { deleted, source, published }: PlanRecord): boolean {
  const isClaimed = loom.forge.name !== "local" && loom.config.github?.claim === true && source !== undefined;
  return isClaimed && deleted !== undefined && deleted.reason !== "cleaned" && published?.released !== true;
}

/** Takes the claim of a deleted plan back, unless its source has a plan again. */
export async function releaseClaim(loom: Claimant & Records & Stopping, planId: string): Promise<void> {
  const record = loom.store.byId(planId);
  const { forge } = loom;
  if (!record?.source || forge.name === "local" || !isToBeReleased(loom, record)) return;
  const { source, uid } = record;
  await oneByOne(loom, source, async () => {
    if (!hasPlan(loom, source)) await (await forge.server()).release(source, claimerOf(loom).claimer);
    crashPoint("server:released");
    const now = loom.stopping ? undefined : loom.store.get(uid);
    if (now?.deleted) loom.store.put(uid, { ...now, published: { ...now.published, released: true } }, now.revision);
  });
}

function hasPlan({ store }: Records, source: PlanSource): boolean {
  const record = store.bySource(source);
  return record !== undefined && !record.deleted;
}

/** Does one thing about a source at a time: nothing comes between a claim and the plan that is made with it. */
export async function oneByOne<T>({ claiming }: Publishing, source: PlanSource, act: () => Promise<T>): Promise<T> {
  const key = sourceKey(source);
  const before = claiming.get(key) ?? Promise.resolve();
  const mine = before.then(act, act);
  claiming.set(key, mine);
  try {
    return await mine;
  } finally {
    if (claiming.get(key) === mine) claiming.delete(key);
  }
}

const claimerFile = (paths: Paths): string => join(paths.authority, "claimer.json");

/** This clone, under a name that stays when the machine's changes. */
function claimerOf(loom: Located & Naming & Timing): { readonly claimer: string; readonly name: string } {
  const path = claimerFile(loom.paths);
  const text = readTextIfExists(path);
  if (text === undefined) {
    const made = { claimer: loom.ids.ulid(loom.clock.now()), name: hostname() };
    writeFileAtomic(path, `${JSON.stringify({ schemaVersion: 1, ...made }, null, 2)}\n`);
    return made;
  }
  const written = jsonIn(text);
  const { schemaVersion, claimer, name } = isFields(written) ? written : {};
  if (schemaVersion === 1 && typeof claimer === "string" && typeof name === "string") return { claimer, name };
  const hint = "Repair it; or delete it, then issues that this clone has claimed count as another's.";
  throw new PrloomError("state-unreadable", `${path} cannot be read.`, hint);
}

const MAX_ELSEWHERE = 20;
const elsewhereFile = (paths: Paths): string => join(paths.bus, "state", "claimed.json");

function keepElsewhere({ paths }: Located, claims: readonly ClaimedElsewhere[]): void {
  ensureDir(join(paths.bus, "state"));
  writeFileAtomic(elsewhereFile(paths), `${JSON.stringify({ schemaVersion: 1, claims }, null, 2)}\n`);
}

/** What this clone made no plan of, newest first; a file that cannot be read tells nothing. Checked by hand: status reads it each time. */
export function claimedElsewhere({ paths }: Located): ClaimedElsewhere[] {
  const written = readJson(elsewhereFile(paths));
  if (!isFields(written) || written.schemaVersion !== 1 || !Array.isArray(written.claims)) return [];
  return written.claims.filter((one): one is ClaimedElsewhere => {
    if (!isFields(one) || !isFields(one.source)) return false;
    const { system, kind, id } = one.source;
    return [one.name, one.by, one.at, system, kind, id].every((value) => typeof value === "string");
  });
}
