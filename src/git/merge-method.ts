/** How the commits of a branch get into its base. A file of its own: the declarations of the package are made of it. */
export const MERGE_METHODS = ["merge", "squash", "rebase"] as const;
export type MergeMethod = (typeof MERGE_METHODS)[number];
