import * as z from "zod";
import type { BridgeEvent } from "../../bridges/contract.ts";
import { isSame } from "../../bridges/tracker/bridge.ts";
import type { TrackerAuthor } from "../../bridges/tracker/port.ts";
import type { ServerChange } from "../../forge/port.ts";
import { messageOf } from "../../kernel/errors.ts";
import { CallError, newer, onePage } from "../pages.ts";
import { changeOf, type PullState, pullState } from "../pulls/pull-state.ts";
import type { CommentCursor } from "../tracker/comments.ts";
import type { Permissions } from "../tracker/permissions.ts";
import { CheckLooks, type LookingAtChecks } from "./check-looks.ts";
import { LookTime } from "./look-time.ts";
import { beatOf, movedSince } from "./pull-beat.ts";
import { isFresh, isUnfinished, type KnownPull, type PullEvent, resolvedEvents, reviewEvents } from "./pull-news.ts";
import { talkOf } from "./pull-talk.ts";
import { commentsOf, eventsOnLines, hearReviewComments, type LineComment } from "./review-comments.ts";

/** How far pull requests were heard. */
export interface PullsCursor {
  /** The newest change of any. */
  readonly at: string;
  readonly comments: CommentCursor;
  /** Those of open plans, by their numbers. */
  readonly known: Readonly<Record<string, KnownPull>>;
  /** What waits until it is known what its author may do; by the numbers. */
  readonly held: readonly { readonly number: number; readonly event: PullEvent }[];
  /** When all of them were looked at last, whether they seemed to have changed or not. */
  readonly beatAt: number;
}

export interface LookingAtPulls extends LookingAtChecks {
  readonly self: TrackerAuthor;
  readonly permissions: Permissions;
  /** The plans whose pull requests these are, by number. */
  readonly plans: ReadonlyMap<number, string>;
  /** A pull request as it is now. */
  onPull?(planId: string, change: ServerChange): void;
  /** Whether it waits in the merge queue, as far as that is known. */
  isQueued?(planId: string): boolean;
}

const listedSchema = z.array(z.looseObject({ number: z.number(), updated_at: z.string() }));
type Listed = z.infer<typeof listedSchema>[number];

export interface HeardPulls {
  readonly events: readonly BridgeEvent[];
  readonly cursor: PullsCursor;
}

/** What was said and done at pull requests of plans since the last look. The first look hears nothing of what was before. */
export async function hearPulls(looking: LookingAtPulls, cursor: PullsCursor | undefined): Promise<HeardPulls> {
  return new PullsLook(looking, cursor).hear();
}

/** Threads that are resolved change nothing that lists tell, and checks may begin late. */
const BEAT_MS = 10 * 60_000;
/** With more than these GitHub is out of order: then nothing is taken, and all of it is asked for again. */
const MAX_HELD = 50;
const MAX_PAGES = 10;

class PullsLook {
  readonly #looking: LookingAtPulls;
  readonly #cursor: PullsCursor | undefined;
  readonly #known = new Map<number, KnownPull>();
  readonly #onLines: LineComment[] = [];
  readonly #found: { readonly number: number; readonly event: PullEvent }[] = [];
  #isWhole = true;

  constructor(looking: LookingAtPulls, cursor: PullsCursor | undefined) {
    this.#looking = looking;
    this.#cursor = cursor;
    for (const [number, known] of Object.entries(cursor?.known ?? {}))
      if (looking.plans.has(Number(number))) this.#known.set(Number(number), known);
  }

  async hear(): Promise<{ readonly events: readonly BridgeEvent[]; readonly cursor: PullsCursor }> {
    const { repository, clock } = this.#looking;
    const { listed, at, isWhole } = await this.#list();
    const changed = [...this.#looking.plans.keys()].filter((number) => this.#isChanged(number, listed, isWhole));
    await this.#each(changed, (number) => this.#look(number, listed.get(number)));
    const now = clock.now();
    const before = this.#cursor?.beatAt ?? now;
    const isDue = Math.abs(now - before) >= BEAT_MS;
    await this.#beat(isDue, now);
    const { comments, cursor } = await hearReviewComments(repository, this.#cursor?.comments);
    this.#found.push(...(await eventsOnLines(this.#looking, [...this.#onLines, ...comments])));
    const { events, held } = await this.#authorised([...(this.#cursor?.held ?? []), ...this.#found]);
    const known = Object.fromEntries(this.#known);
    const far = this.#isWhole ? { at, beatAt: isDue ? now : before } : { at: this.#cursor?.at ?? at, beatAt: before };
    return { events, cursor: { ...far, comments: cursor, known, held } };
  }

  /** One that cannot be read keeps no other waiting; it is looked at again, and so is what there is no time for. */
  async #each(numbers: readonly number[], look: (number: number) => Promise<void>): Promise<void> {
    const { clock, log } = this.#looking;
    const time = new LookTime(clock);
    for (const number of time.inTurn(numbers)) {
      // The first look takes what it takes: what was there before it is not told by a later one.
      if (!time.mayBegin() && this.#cursor) {
        this.#isWhole = false;
        return;
      }
      try {
        await look(number);
      } catch (error) {
        const kind = error instanceof CallError ? error.kind : undefined;
        if (kind === "limited" || kind === "unauthorised") throw error;
        log.warn(`pull request #${number} is looked at again later: ${messageOf(error)}`);
      }
    }
  }

  #thread(number: number): string {
    return `${this.#looking.repository.id}#${number}`;
  }

  /** Newest change first, as far back as the last look; not `isWhole` where that is too far. */
  async #list(): Promise<{ listed: ReadonlyMap<number, Listed>; at: string; isWhole: boolean }> {
    const listed = new Map<number, Listed>();
    const before = this.#cursor?.at;
    let at = before ?? "";
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const query = { state: "all", sort: "updated", direction: "desc" };
      const read = await onePage(this.#looking.repository, "/pulls", { query, schema: listedSchema }, page);
      for (const pull of read.items) {
        // One that changed while pages were read comes twice; the first is the newer.
        if (!listed.has(pull.number)) listed.set(pull.number, pull);
        at = newer(at, pull.updated_at);
      }
      const isOlder = read.items.some(({ updated_at: updated }) => before === undefined || updated < before);
      if (isOlder || !read.hasMore) return { listed, at, isWhole: true };
    }
    return { listed, at, isWhole: false };
  }

  #isChanged(number: number, listed: ReadonlyMap<number, Listed>, isWhole: boolean): boolean {
    const known = this.#known.get(number);
    if (!known || isFresh(known)) return true;
    const now = listed.get(number);
    return now ? now.updated_at !== known.updated : !isWhole;
  }

  async #one(number: number): Promise<Listed | undefined> {
    const outcome = await this.#looking.repository.get(`/pulls/${number}`, { plan: this.#looking.plans.get(number) });
    if (outcome.kind === "not-found" || outcome.kind === "deleted") return undefined;
    if (outcome.kind !== "ok") throw new CallError(`pull request #${number}`, outcome);
    return listedSchema.element.parse(outcome.data);
  }

  async #look(asked: number, listed: Listed | undefined): Promise<void> {
    const data = listed ?? (await this.#one(asked));
    if (data) await this.#learn(pullState(data), data.updated_at);
  }

  async #learn(pull: PullState, updated: string): Promise<void> {
    const { number, nodeId, base } = pull;
    const before = this.#known.get(number);
    const isSameHead = before?.head === pull.head.sha;
    const lookedAt = this.#looking.clock.now();
    const change = changeOf(this.#looking.repository, pull);
    const state = JSON.stringify(change);
    const talk = await this.#talk(number, nodeId);
    this.#known.set(number, {
      ...{ updated, nodeId, base, head: pull.head.sha, told: isSameHead ? before.told : [], rerun: before?.rerun },
      ...{
        checks: isSameHead ? before.checks : "none",
        headAt: isSameHead ? before.headAt : this.#looking.clock.now(),
        needs: isSameHead ? before.needs : undefined,
      },
      ...{ state, lookedAt, seenAt: before?.updated === updated ? (before.seenAt ?? lookedAt) : lookedAt },
      ...talk,
    });
    const isNew = before?.updated !== updated || before.state !== state;
    if (isNew) this.#looking.onPull?.(this.#looking.plans.get(number) ?? "", change);
  }

  /** Tells reviews and resolved threads; returns which are known then. */
  async #talk(number: number, nodeId: string): Promise<Pick<KnownPull, "reviews" | "resolved">> {
    const { reviews, threads } = await talkOf(this.#looking.repository, nodeId, this.#looking.plans.get(number));
    const known = this.#known.get(number);
    const thread = this.#thread(number);
    const events = [
      ...reviewEvents(reviews, { known: known?.reviews ?? [], thread, self: this.#looking.self }),
      ...resolvedEvents(threads, known?.resolved ?? [], thread),
    ];
    const handedIn = reviews.filter(({ state }) => state !== "PENDING").map(({ fullDatabaseId: id }) => id);
    // What was there before the first look is not told.
    if (this.#cursor) {
      const fresh = handedIn.filter((id) => !known?.reviews.includes(id));
      this.#onLines.push(...(await commentsOf(this.#looking.repository, number, fresh)));
      this.#found.push(...events.map((event) => ({ number, event })));
    }
    return {
      reviews: handedIn,
      resolved: threads.filter(({ isResolved }) => isResolved).map(({ id }) => id),
    };
  }

  /** Asks for all of them together what no list tells. */
  async #beat(isDue: boolean, now: number): Promise<void> {
    const { plans, isQueued } = this.#looking;
    const queued = new Set([...this.#known.keys()].filter((number) => isQueued?.(plans.get(number) ?? "")));
    const asked = [...this.#known].filter(([number, known]) => isDue || queued.has(number) || isUnfinished(known, now));
    if (asked.length === 0) return;
    const beats = await beatOf(
      this.#looking.repository,
      asked.map(([, { nodeId }]) => nodeId),
    );
    const told = new Map(
      asked.flatMap(([number, known]) => {
        const beat = beats.get(known.nodeId);
        return beat ? [[number, { known, beat }] as const] : [];
      }),
    );
    const checks = new CheckLooks(this.#looking);
    await checks.prepare([...told.values()]);
    await this.#each([...told.keys()], async (number) => {
      const one = told.get(number);
      if (!one) return;
      const { known, beat } = one;
      const isNew = beat.resolved.some((id) => !known.resolved.includes(id));
      const talk = isNew ? await this.#talk(number, known.nodeId) : {};
      const isSame = beat.head === known.head;
      const checked = isSame ? await checks.check(known, beat, this.#thread(number)) : undefined;
      this.#found.push(...(checked?.events ?? []).map((event) => ({ number, event })));
      const moved = isSame && movedSince(known, { ...beat, isUnqueued: queued.has(number) && beat.isUnqueued });
      if (moved) this.#looking.onPull?.(plans.get(number) ?? "", moved.change);
      this.#known.set(number, { ...known, ...talk, ...checked?.known, ...(moved ? moved.known : {}) });
    });
  }

  async #authorised(
    found: readonly { readonly number: number; readonly event: PullEvent }[],
  ): Promise<{ readonly events: BridgeEvent[]; readonly held: PullsCursor["held"] }> {
    const events: BridgeEvent[] = [];
    const held: { readonly number: number; readonly event: PullEvent }[] = [];
    for (const one of found) {
      const plan = this.#looking.plans.get(one.number);
      if (plan === undefined) continue;
      const { by, ...event } = one.event;
      try {
        events.push({ ...event, ...(await this.#context(event, by)), plan });
      } catch (error) {
        // Of this author nothing counts before it is known what they may do; others are not kept waiting by it.
        if (held.length === MAX_HELD) throw error;
        held.push(one);
        this.#looking.log.warn(`what ${by?.login} said at #${one.number} is held back: ${messageOf(error)}`);
      }
    }
    return { events, held };
  }

  async #context(
    { context }: Omit<PullEvent, "by">,
    by: TrackerAuthor | undefined,
  ): Promise<Pick<BridgeEvent, "context">> {
    if (!by) return context ? { context } : {};
    const { permissions, self } = this.#looking;
    const author = { ...by, permission: await permissions.of(by) };
    return { context: { ...context, author, ...(isSame(by, self) ? { ownLogin: by.login } : {}) } };
  }
}
