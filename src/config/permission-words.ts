/** What an author may do with a repository, from little to much. */
export const PERMISSIONS = ["none", "read", "triage", "write", "maintain", "admin"] as const;
export type AuthorPermission = (typeof PERMISSIONS)[number];
