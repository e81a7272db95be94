import { git } from "../github/git.ts";
import type { Comment } from "../github/world.ts";
import type { StoryNumbers, StoryPlace } from "./story.ts";

/** What people find on GitHub when the story is over, and what is left of the plan. */
export interface StoryOutcome {
  /** Who says what below the issue, sorted: what order it has depends on what failed. */
  readonly issue: readonly string[];
  readonly pull: readonly string[];
  /** On lines, each thread by its own. */
  readonly threads: readonly (readonly string[])[];
  readonly reviews: readonly string[];
  /** Subjects, oldest first. */
  readonly commits: readonly string[];
  readonly pulls: number;
  /** Of them, as drafts. */
  readonly drafts: number;
  readonly state: "merged" | "closed" | "open";
  readonly plan: string;
}

export function outcomeOf({ repository, plans }: StoryPlace, { issue, pull, drafts }: StoryNumbers): StoryOutcome {
  const { comments, pull: change, state } = repository.issues.get(pull) ?? {};
  if (!change) throw new Error(`#${pull} is no pull request`);
  const record = plans.record();
  const threads = Map.groupBy(change.reviewComments, ({ thread }) => thread.id);
  return {
    issue: said(repository.issues.get(issue)?.comments ?? []).toSorted(),
    pull: said(comments ?? []).toSorted(),
    threads: [...threads.values()].map(said),
    reviews: change.reviews
      .filter(({ state }) => state !== "COMMENTED")
      .map(({ user, state }) => `${user.login} ${state}`),
    commits: git(repository.folder, ["log", "--reverse", "--format=%s", `main~1..${change.head.sha}`]).split("\n"),
    pulls: [...repository.issues.values()].filter((one) => one.pull).length,
    drafts,
    state: change.merged ? "merged" : (state ?? "open"),
    plan: `${record?.status} ${record?.outcome}`,
  };
}

const MARKER = /\n\n<!-- prloom \S+ -->$/;
/** Ids, times and commits are others each time. */
const CHANGING = /https?:\S+|\b[0-9a-f]{7,40}\b|\b\d{4}-\d\d-\d\dT\S+|\b[0-9A-HJKMNP-TV-Z]{26}\b|`[^`]*`/g;

function said(comments: readonly Comment[]): string[] {
  return comments.map(({ user, body }) => {
    const [line = ""] = body.replace(MARKER, "").split("\n");
    return `${user.login}: ${line.replaceAll(CHANGING, "…")}`;
  });
}
