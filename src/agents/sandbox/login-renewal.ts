import { isFields, type JsonFields, jsonIn } from "../../kernel/json-fields.ts";

/** A file with a login is small; a large one was not written by the program. */
export const MAX_LOGIN_BYTES = 256 * 1024;

/** Keys on the way to a value that a program renews by itself; `*` stands for any one. */
export type TokenPath = readonly string[];

/** Without blanks, quotes and control characters: whatever reads it takes it for one word. */
const TOKEN = /^[\w.~+/=:|#-]{8,16384}$/;
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
/** The last moment that a date can have; numbers beyond it are not times. */
const LAST_MOMENT = 8_640_000_000_000_000;

/** A new token for a token, a later time for a time; nothing else is a renewal. */
function isRenewal(before: unknown, after: unknown): boolean {
  if (typeof before === "number" && typeof after === "number") {
    return Number.isFinite(after) && after >= before && after <= LAST_MOMENT;
  }
  if (typeof before !== "string" || typeof after !== "string") return false;
  return DATE.test(before) ? DATE.test(after) && Date.parse(after) >= Date.parse(before) : TOKEN.test(after);
}

function isToken(paths: readonly TokenPath[], path: readonly string[]): boolean {
  const isAt = (one: TokenPath) => one.length === path.length && one.every((key, i) => key === "*" || key === path[i]);
  return paths.some(isAt);
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

interface Merging {
  readonly paths: readonly TokenPath[];
  changed: boolean;
}

/** What was there before, with the tokens of `after` wherever all that they belong to is as it was. */
function merged(before: JsonFields, after: unknown, at: readonly string[], merging: Merging): JsonFields {
  if (!isFields(after)) return before;
  const entries = Object.entries(before);
  const other = (key: string): unknown => (Object.hasOwn(after, key) ? after[key] : undefined);
  const isOwn = entries.every(([key, value]) =>
    isToken(merging.paths, [...at, key])
      ? isRenewal(value, other(key)) || isSame(value, other(key))
      : isKept(value, other(key)),
  );
  // An entry that says of what kind it is has tokens to renew only when it is a login in the browser, not a plain key.
  const renews = isOwn && (before.type === undefined || before.type === "oauth");
  const result = entries.map(([key, value]): [string, unknown] => {
    const path = [...at, key];
    if (isFields(value)) return [key, merged(value, other(key), path, merging)];
    if (!renews || !isToken(merging.paths, path) || isSame(value, other(key))) return [key, value];
    merging.changed = true;
    return [key, other(key)];
  });
  return Object.fromEntries(result);
}

/** Objects are looked at by themselves. */
function isKept(before: unknown, after: unknown): boolean {
  return isFields(before) ? isFields(after) : isSame(before, after);
}

/**
 * Pure: the text of a login with the tokens that a program renewed, or undefined when there are none. Built from `before`:
 * of `after`, which an agent may have written, only single tokens and times come over, into places that were there.
 */
export function renewedTokens(before: string, after: string, paths: readonly TokenPath[]): string | undefined {
  if (after.length > MAX_LOGIN_BYTES) return undefined;
  const [old, now] = [jsonIn(before), jsonIn(after)];
  if (!isFields(old)) return undefined;
  const merging: Merging = { paths, changed: false };
  const result = merged(old, now, [], merging);
  if (!merging.changed) return undefined;
  const indent = /^\{\r?\n([ \t]+)/.exec(before)?.[1];
  return `${JSON.stringify(result, undefined, indent)}${before.endsWith("\n") ? "\n" : ""}`;
}
