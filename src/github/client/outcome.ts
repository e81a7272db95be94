import type { Lost, WireAnswer } from "./transport.ts";

/** What came of a call. A lookup that failed is never "not there". */
export type Outcome =
  | { readonly kind: "ok"; readonly data: unknown; readonly headers: WireAnswer["headers"] }
  /** As it was when its tag was given. */
  | { readonly kind: "unchanged" }
  | { readonly kind: "not-found"; readonly reason: string }
  | { readonly kind: "deleted"; readonly reason: string }
  | { readonly kind: "moved"; readonly to: string }
  /** The token is not good, or no longer; `unasked`: none was found. */
  | { readonly kind: "unauthorised"; readonly reason: string; readonly unasked?: true }
  /** GitHub understood, and does not do it; it would refuse again. */
  | { readonly kind: "refused"; readonly status: number; readonly reason: string }
  | { readonly kind: "limited"; readonly retryAfterMs: number; readonly reason: string; readonly unasked?: true }
  | { readonly kind: "failed"; readonly reason: string; readonly mayHaveHappened: boolean; readonly lost?: true };

/** Where GitHub names no time. */
const UNNAMED_LIMIT_MS = 60_000;

/** GitHub's words for a limit on what is made that it tells as if something were wrong with it. */
const TOO_QUICKLY = /\bwas submitted too quickly\b/;

/** Pure: what an answer means. */
export function judgeAnswer(answer: WireAnswer | Lost, now: number): Outcome {
  if ("lost" in answer)
    return { kind: "failed", reason: answer.lost, mayHaveHappened: answer.mayHaveHappened, lost: true };
  const { status, headers, data } = answer;
  if (status === 304) return { kind: "unchanged" };
  const { location } = headers;
  if (status > 300 && status < 400 && location !== undefined) return { kind: "moved", to: location };
  if (status >= 200 && status < 300) return isAnswer(answer) ? { kind: "ok", data, headers } : NOT_GITHUB;
  const reason = reasonOf(data, status);
  if (status === 401) return { kind: "unauthorised", reason };
  const retryAfterMs = status === 403 || status === 429 || TOO_QUICKLY.test(reason) ? limitOf(answer, now) : undefined;
  if (retryAfterMs !== undefined) return { kind: "limited", retryAfterMs, reason };
  if (status === 404) return { kind: "not-found", reason };
  if (status === 410) return { kind: "deleted", reason };
  if (status >= 500 || status < 200) return { kind: "failed", reason, mayHaveHappened: true };
  return { kind: "refused", status, reason };
}

/** A page of a proxy, or of a place to log in, comes with 200, too: what was asked for is not done for that, nor known. */
const NOT_GITHUB: Outcome = {
  kind: "failed",
  reason: "something else answered in its place, a proxy or a page to log in",
  mayHaveHappened: true,
  lost: true,
};

/** GitHub answers with JSON, or with nothing where there is nothing to tell. */
const isAnswer = ({ status, data }: WireAnswer): boolean =>
  status === 204 || (typeof data === "object" && data !== null && !(data instanceof ArrayBuffer));

interface GraphqlError {
  readonly type?: string;
  readonly message?: string;
  readonly path?: readonly (string | number)[];
}

/** GitHub's words for what a REST call would have 5xx for: it tells no type then. */
const BROKE = /^Something went wrong while executing your query/;

/** What a token may not see or do. */
const MAY_NOT: ReadonlySet<string> = new Set(["FORBIDDEN", "INSUFFICIENT_SCOPES"]);

/** Pure: `errors` in an answer with 200 are a refusal, that something is not there, or that GitHub broke. */
export function judgeGraphql(outcome: Outcome): Outcome {
  if (outcome.kind !== "ok") return outcome;
  const { data, errors } = outcome.data as { data?: unknown; errors?: readonly GraphqlError[] };
  // Of several that were asked for, those that are gone are null, and the others are told.
  const [first] = (errors ?? []).filter(({ type, path }) => type !== "NOT_FOUND" || typeof path?.at(-1) !== "number");
  // It has one of the two.
  if (!first) return typeof data === "object" && data !== null ? { ...outcome, data } : NOT_GITHUB;
  const reason = first.message ?? "GraphQL refused without a word";
  if (first.type === "RATE_LIMITED" || first.type === "RATE_LIMIT" || TOO_QUICKLY.test(reason))
    return { kind: "limited", retryAfterMs: UNNAMED_LIMIT_MS, reason };
  if (BROKE.test(reason)) return { kind: "failed", reason, mayHaveHappened: true };
  if (first.type === "NOT_FOUND") return { kind: "not-found", reason };
  return { kind: "refused", status: MAY_NOT.has(first.type ?? "") ? 403 : 200, reason };
}

function limitOf({ status, headers, data }: WireAnswer, now: number): number | undefined {
  const after = Number(headers["retry-after"]);
  if (after > 0) return after * 1000;
  const reset = Number(headers["x-ratelimit-reset"]) * 1000;
  // By our clock its end may have passed: it is a limit all the same, and not a refusal.
  if (headers["x-ratelimit-remaining"] === "0") return reset > now ? reset - now : UNNAMED_LIMIT_MS;
  // Of a secondary limit GitHub sometimes says nothing but this.
  const said = reasonOf(data, status);
  const isSecondary = status === 429 || /secondary rate limit|abuse detection/i.test(said) || TOO_QUICKLY.test(said);
  return isSecondary ? UNNAMED_LIMIT_MS : undefined;
}

/** GitHub's words: the message, and what of the request was wrong. */
function reasonOf(data: unknown, status: number): string {
  const { message, errors } = (typeof data === "object" && data !== null ? data : {}) as Record<string, unknown>;
  if (typeof message !== "string") return `status ${status}`;
  const details = (Array.isArray(errors) ? errors : []).slice(0, 3).map(detailOf).filter(Boolean);
  return details.length > 0 ? `${message}: ${details.join("; ")}` : message;
}

function detailOf(error: unknown): string {
  if (typeof error === "string") return error;
  const { message, field, code } = (error ?? {}) as Record<string, unknown>;
  if (typeof message === "string") return message;
  return [field, code].filter((part) => typeof part === "string").join(" ");
}
