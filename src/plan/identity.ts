import { shortHash } from "../kernel/ids.ts";
import { type PlanSource, sourceKey } from "./record.ts";

const MAX_ID = 64;
const ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** True for what may be a plan's id; it is also a file name and a part of a branch name, so git's rules count. */
export function isValidPlanId(id: string): boolean {
  return ID.test(id) && !id.includes("..") && !id.endsWith(".") && !id.endsWith(".lock");
}

/** The same in words, for a person who has to choose another. */
export const ID_RULES =
  "lower-case letters, digits, `.`, `_` and `-`, at most 64, a letter or digit first, no `..`, and neither `.` nor `.lock` at the end";

/** Marks in a row are sorted in time quadratic in their number: of a title only its beginning is looked at. */
const MAX_READ = 1000;

/** Lower-case Latin letters and digits of a title, joined by `-`; empty when it has none. */
export function slugOf(title: string): string {
  return cut(
    title
      .slice(0, MAX_READ)
      .toLowerCase()
      .normalize("NFKD")
      .replace(/\p{M}+/gu, "")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+/, ""),
    48,
  );
}

export interface IdRequest {
  readonly title?: string;
  readonly source?: PlanSource;
  /** What the id begins with when the title has no Latin letter or digit. */
  readonly fallback: string;
}

/** The id for a new plan: readable, and the same for the same source. Whether it is free is another question. */
export function planIdFor({ title, source, fallback }: IdRequest): string {
  const spare = isValidPlanId(fallback) ? fallback : slugOf(fallback) || "plan";
  const name = slugOf(title ?? "") || spare;
  if (!source) return name;
  const hash = hashOf(source);
  return `${cut(name, MAX_ID - hash.length)}${hash}`;
}

/** Whether `planIdFor` may have made the id for a plan of this source. */
export function isIdOf(id: string, source: PlanSource): boolean {
  return id.replace(/-\d+$/, "").endsWith(hashOf(source)) || id.endsWith(hashOf(source));
}

function hashOf(source: PlanSource): string {
  return `-${shortHash(sourceKey(source), 8)}`;
}

/** The id itself when it is free, else the first of `-2`, `-3` … that is. */
export function freeId(id: string, taken: (id: string) => boolean): string {
  let candidate = id;
  for (let number = 2; taken(candidate); number += 1) {
    const suffix = `-${number}`;
    candidate = `${id.slice(0, MAX_ID - suffix.length)}${suffix}`;
  }
  return candidate;
}

function cut(name: string, length: number): string {
  return name.slice(0, length).replace(/(?<![-.])[-.]+$/, "");
}
