import { type RawUpsert, sourceOf } from "../../bridges/core/upsert.ts";
import type { Together } from "../../bus/file/plan-store.ts";
import { whyBrought } from "../../git/tracked.ts";
import type { Stopping, Waking } from "../capabilities.ts";
import { statRegular } from "../intake/stat-key.ts";
import { inboxOf, textPath } from "../paths.ts";
import { type Upserted, type Upserting, type UpsertOutcome, upsertPlans } from "./upsert.ts";

/** Plans of one batch: they are made without a pause, and everything else waits. */
const MAX_BATCH = 50;
/** And so much text, theirs and what they change, which is read and merged. One that is longer is a batch by itself. */
const MAX_CHARACTERS = 128 * 1024;

interface Asked extends PromiseWithResolvers<Upserted> {
  readonly payload: RawUpsert;
}

/** Upserts that come up at the same time are written together: one poll may bring hundreds. */
export class UpsertBatches {
  readonly #loom: Upserting & Waking & Stopping;
  #asked: Asked[] = [];

  constructor(loom: Upserting & Waking & Stopping) {
    this.#loom = loom;
  }

  /** Resolves when the plan is safe from a power loss: only then may it be recorded that the upsert was made. */
  upsert(payload: RawUpsert): Promise<Upserted> {
    const asked = { payload, ...Promise.withResolvers<Upserted>() };
    this.#asked.push(asked);
    if (this.#asked.length === 1) setImmediate(() => void this.#begin());
    return asked.promise;
  }

  async #begin(): Promise<void> {
    const { repo, paths } = this.#loom;
    const asked = whyBrought(repo, inboxOf(paths, "any").text);
    const answer = await asked.catch((error: unknown) => ({ error }));
    const batch = this.#take();
    if (this.#asked.length > 0) setImmediate(() => void this.#begin());
    if (typeof answer === "object") rejectAll(batch, answer.error);
    else if (answer !== undefined) for (const { resolve } of batch) resolve({ kind: "brought", reason: answer });
    else this.#make(batch);
  }

  #make(batch: readonly Asked[]): void {
    const made = this.#write(batch);
    if (!made) return;
    const { result, safe } = made;
    const answer = (): void =>
      result.forEach((outcome, at) => {
        if ("upserted" in outcome) batch[at]?.resolve(outcome.upserted);
        else batch[at]?.reject(outcome.error);
      });
    safe.then(answer, (error) => rejectAll(batch, error));
    try {
      this.#tell(result.flatMap((outcome) => ("upserted" in outcome ? outcome.upserted : [])));
    } catch (error) {
      rejectAll(batch, error);
    }
  }

  /** Undefined when all of them are dealt with already. */
  #write(batch: readonly Asked[]): Together<UpsertOutcome[]> | undefined {
    try {
      if (this.#loom.stopping) throw new Error("the dispatcher stops");
      const made = upsertPlans(
        this.#loom,
        batch.map(({ payload }) => payload),
      );
      this.#loom.store.sync();
      return made;
    } catch (error) {
      // A file of one plan may be what cannot be written, and the others have nothing to do with it.
      if (batch.length > 1) for (const asked of batch) this.#make([asked]);
      else rejectAll(batch, error);
      return undefined;
    }
  }

  /** Of two upserts of one source the second has to see what the first one wrote. */
  #take(): Asked[] {
    const sources = new Set<string>();
    const batch: Asked[] = [];
    const later: Asked[] = [];
    let characters = 0;
    for (const asked of this.#asked) {
      const { system, kind, id } = asked.payload.source;
      const source = JSON.stringify([system, kind, id]);
      const isRoom = batch.length < MAX_BATCH && (batch.length === 0 || characters < MAX_CHARACTERS);
      if (isRoom && !sources.has(source)) {
        batch.push(asked);
        characters += this.#charactersOf(asked.payload);
      } else later.push(asked);
      sources.add(source);
    }
    this.#asked = later;
    return batch;
  }

  #charactersOf(payload: RawUpsert): number {
    const source = sourceOf(payload);
    const record = source && this.#loom.store.bySource(source);
    const changed = record && statRegular(textPath(this.#loom, record));
    return (payload.planMarkdown?.length ?? 0) + (changed?.size ?? 0);
  }

  /** Of all of them at once, which each plan would do by itself when it is looked at. */
  #tell(upserted: readonly Upserted[]): void {
    const changed = upserted.flatMap((one) => (one.kind === "created" || one.kind === "changed" ? one.planId : []));
    if (this.#loom.lifecycle().lookAt(changed).length > 0) this.#loom.wakeBus();
  }
}

function rejectAll(batch: readonly Asked[], error: unknown): void {
  for (const { reject } of batch) reject(error);
}
