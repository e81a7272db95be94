import { PROTECTED } from "../../git/staging/protected-paths.ts";

/** Protected in every repository: what commits leave out, and git's own, in the worktree and in repositories inside of it. */
export const OWN_PROTECTED: readonly string[] = [...PROTECTED, ".git", "**/.git"];
