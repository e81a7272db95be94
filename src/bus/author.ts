import { type AuthorPermission, PERMISSIONS } from "../config/permission-words.ts";

export { type AuthorPermission, PERMISSIONS };

/** Whether an author may write to the repository. */
export function hasWritePermission({ permission }: { readonly permission: AuthorPermission }): boolean {
  return permission === "write" || permission === "maintain" || permission === "admin";
}
