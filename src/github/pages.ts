import type * as z from "zod";
import type { Outcome } from "./client/outcome.ts";
import type { RepositoryCalls } from "./repository.ts";

/** A call that did not give what was asked for. Failed polls and deliveries honour `retryAfterMs`. */
export class CallError extends Error {
  readonly retryAfterMs: number | undefined;

  constructor(what: string, outcome: Exclude<Outcome, { kind: "ok" }>) {
    super(`${what}: GitHub says ${"reason" in outcome ? outcome.reason : outcome.kind}`);
    this.retryAfterMs = outcome.kind === "limited" ? outcome.retryAfterMs : undefined;
  }
}

export interface PagesOptions<T> {
  readonly query?: Readonly<Record<string, string | number>>;
  readonly schema: z.ZodType<readonly T[]>;
  readonly maxPages?: number;
}

/** More than these are not read at once: the rest comes with the next look. */
const MAX_PAGES = 20;
const PAGE_SIZE = 100;

/** All that is there. While pages are read the list may shift: what was on two of them is there twice. */
export async function allPages<T>(
  repository: RepositoryCalls,
  path: string,
  { query = {}, schema, maxPages = MAX_PAGES }: PagesOptions<T>,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (let page = 1; page <= maxPages; page += 1) {
    const outcome = await repository.get(path, {
      query: { per_page: PAGE_SIZE, ...query, ...(page > 1 ? { page } : {}) },
    });
    if (outcome.kind !== "ok") throw new CallError(path, outcome);
    const items = schema.parse(outcome.data);
    all.push(...items);
    if (!outcome.headers.link?.includes('rel="next"')) break;
  }
  return all;
}
