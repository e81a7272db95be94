import { createHash } from "node:crypto";
import type { ChangeRequestDraft } from "../../forge/port.ts";
import type { PlanRecord } from "../../plan/record.ts";

/** What the server is to have of a plan. */
export interface Level {
  /** The newest commit that was verified. */
  readonly head: string;
  readonly draft: ChangeRequestDraft;
  readonly ready: boolean;
}

export type Missing =
  /** Commits of people on our branch there. */
  "take-over" | "push" | "open" | "describe";

export function digestOf({ title, body, base }: ChangeRequestDraft): string {
  return createHash("sha256")
    .update(JSON.stringify([title, body, base]))
    .digest("hex");
}

/** What is to be done next so that the server has what it is to have; undefined when it has. */
export function missingOf({ published = {}, changeRequest }: PlanRecord, level: Level): Missing | undefined {
  if (changeRequest && changeRequest.state !== "open") return undefined;
  if (published.theirs !== undefined) return "take-over";
  if (published.sha !== level.head) return "push";
  if (!changeRequest) return "open";
  const isDescribed = published.described === digestOf(level.draft);
  return isDescribed && (changeRequest.ready || !level.ready) ? undefined : "describe";
}

/** Files whose changes run with the secrets of the repository's CI as soon as they are pushed. */
const RUN_BY_CI =
  /^(\.github\/(workflows|actions)\/|\.gitlab-ci\.ya?ml$|\.circleci\/|\.buildkite\/|\.drone\.ya?ml$|\.travis\.ya?ml$|azure-pipelines[^/]*\.ya?ml$|(.*\/)?Jenkinsfile$|bitbucket-pipelines\.ya?ml$|(.*\/)?action\.ya?ml$)/i;

export const isRunByCi = (path: string): boolean => RUN_BY_CI.test(path);
