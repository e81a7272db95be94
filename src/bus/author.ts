import type { EventAuthor } from "./message-types.ts";

/** Whether an author may write to the repository. */
export function hasWritePermission({ permission }: EventAuthor): boolean {
  return permission === "write" || permission === "maintain" || permission === "admin";
}
