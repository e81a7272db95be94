/** Whose bus it is. A name, not a path: engines decide where it lives. */
export interface Scope {
  /** Absent: the repository's own (global) bus. */
  readonly planId?: string;
}

/** The bus of a plan, or without one the repository's own. */
export function scopeOf(planId: string | undefined): Scope {
  return planId === undefined ? {} : { planId };
}
