/** An event as a bridge brings it. */
export const event = (id: string, more: object = {}) => ({
  id,
  source: "somebody else",
  type: "issue.opened",
  severity: "info" as const,
  title: id,
  body: "",
  ...more,
});

/** A plan that it asks for. */
export const upsert = (id: string, relatedEventId?: string) => ({
  target: { target: "prloom-core" },
  payload: { type: "upsert_plan" as const, source: { system: "t", kind: "issue", id } },
  ...(relatedEventId === undefined ? {} : { relatedEventId }),
});
