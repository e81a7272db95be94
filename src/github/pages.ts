import type * as z from "zod";
import type { Outcome } from "./client/outcome.ts";
import type { RepositoryCalls } from "./repository.ts";

type NotOk = Exclude<Outcome, { kind: "ok" }>;

/** A call that did not give what was asked for. Failed polls and deliveries honour `retryAfterMs`. */
export class CallError extends Error {
  readonly kind: NotOk["kind"];
  /** GitHub's words, or why it was not asked, or gave no answer. */
  readonly reason: string;
  readonly retryAfterMs: number | undefined;

  constructor(what: string, outcome: NotOk) {
    const reason = "reason" in outcome ? outcome.reason : outcome.kind;
    super(`${what}: ${toldBy(outcome)}${reason}`);
    this.reason = reason;
    this.kind = outcome.kind;
    this.retryAfterMs = outcome.kind === "limited" ? outcome.retryAfterMs : undefined;
  }
}

function toldBy(outcome: NotOk): string {
  if ("unasked" in outcome) return "";
  return "lost" in outcome ? "GitHub did not answer: " : "GitHub says ";
}

export interface ListOptions<T> {
  readonly query?: Readonly<Record<string, string | number>>;
  readonly schema: z.ZodType<readonly T[]>;
}

interface ListPage<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
}

export const PAGE_SIZE = 100;
/** GitHub lets no thread grow so long. */
const MAX_PAGES = 100;

/** One page of a list, the first unless told. */
export async function onePage<T>(
  repository: RepositoryCalls,
  path: string,
  { query = {}, schema }: ListOptions<T>,
  page = 1,
): Promise<ListPage<T>> {
  const place = page > 1 ? { page } : {};
  const outcome = await repository.get(path, { query: { per_page: PAGE_SIZE, ...query, ...place } });
  if (outcome.kind !== "ok") throw new CallError(path, outcome);
  return { items: schema.parse(outcome.data), hasMore: outcome.headers.link?.includes('rel="next"') ?? false };
}

/**
 * Pure: whether something may be behind a page of a list that grows at its end. A full one stays as it was for GitHub when the next one is
 * begun: what it told then of others is old.
 */
const mayGoOn = ({ items, hasMore }: ListPage<unknown>): boolean => hasMore || items.length >= PAGE_SIZE;

/** All that is there, or an error: something that a part of it lacks would pass for gone. */
export async function allPages<T>(
  repository: RepositoryCalls,
  path: string,
  options: ListOptions<T>,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const read = await onePage(repository, path, options, page);
    all.push(...read.items);
    if (!mayGoOn(read)) return all;
  }
  throw new Error(`${path}: there are more than ${MAX_PAGES * PAGE_SIZE} of them`);
}

/**
 * What changed since a time, oldest change first, page by page; some of it twice. Goes on from the time of the last one and not from
 * its place: what changes again meanwhile leaves its own, and the one behind it would move to a page that was read.
 */
export async function* changedSince<T extends { readonly updated_at: string }>(
  repository: RepositoryCalls,
  path: string,
  { since, query = {}, schema }: ListOptions<T> & { readonly since: string },
): AsyncGenerator<readonly T[], void> {
  let from = since;
  for (let page = 1; ; ) {
    const asked = { ...query, since: from, sort: "updated", direction: "asc" };
    const read = await onePage(repository, path, { query: asked, schema }, page);
    yield read.items;
    const last = read.items.at(-1)?.updated_at;
    if (!mayGoOn(read) || last === undefined) return;
    page = last > from ? 1 : page + 1;
    from = last > from ? last : from;
  }
}

/** GitHub's lists may show something so much later than its time says. */
export const OVERLAP_MS = 60_000;

/** From when on a list is read again whose newest change was at this time. */
export const readAgainFrom = (at: string): string =>
  new Date(Date.parse(at) - OVERLAP_MS).toISOString().replace(/\.\d+Z$/, "Z");

/** Pure: by now everything that happened up to that time is in the lists, so that nothing around it need be read again. */
export const isLongPast = (at: string, now: number): boolean => now - Date.parse(at) >= 2 * OVERLAP_MS;

/** Right behind a time; times have whole seconds. */
export const behind = (at: string): string => new Date(Date.parse(at) + 1000).toISOString().replace(/\.\d+Z$/, "Z");

/** Before everything: where a list was empty. */
export const BEGINNING = "1970-01-01T00:02:00Z";

export const newer = (one: string, other: string): string => (one > other ? one : other);
