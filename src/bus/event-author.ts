import type { BusEvent, ReportedAuthor } from "./message-types.ts";

/** The author whose permissions an action has that responds to an event; `isShared`: prloom posts under that login, too. */
export function eventAuthor({ context }: Pick<BusEvent, "context">): ReportedAuthor | undefined {
  const author = context?.author;
  return author && context?.ownLogin !== undefined ? { ...author, isShared: true } : author;
}
