import { createHash } from "node:crypto";
import type { ChangeRequestDraft, Described } from "../../forge/port.ts";
import type { Published } from "../../plan/at-forge.ts";
import type { PlanRecord } from "../../plan/record.ts";

/** What the server is to have of a plan. */
export interface Level {
  /** The newest commit that was verified. */
  readonly head: string;
  readonly draft: ChangeRequestDraft;
  readonly ready: boolean;
}

export type MissingAtServer =
  /** Commits of people on our branch there. */
  "take-over" | "push" | "open" | "describe";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

export const draftDigest = ({ title, body, base }: ChangeRequestDraft): string =>
  sha256(JSON.stringify([title, body, base]));

/** What is on record when the server says what it is to say. */
export const describedAs = (draft: ChangeRequestDraft): Pick<Published, "described" | "titled" | "based"> => ({
  described: draftDigest(draft),
  titled: sha256(draft.title),
  based: draft.base,
});

/** What is to be done next so that the server has what it is to have; undefined when it has. */
export function missingOf({ published = {}, changeRequest }: PlanRecord, level: Level): MissingAtServer | undefined {
  if (changeRequest && changeRequest.state !== "open") return undefined;
  if (published.theirs !== undefined) return "take-over";
  if (published.sha !== level.head) return "push";
  if (!changeRequest) return "open";
  const isDescribed = published.described === draftDigest(level.draft);
  return isDescribed && (changeRequest.ready || !isToBeReady(published, level)) ? undefined : "describe";
}

/** Once: a person who makes it a draft again has a reason. */
export const isToBeReady = ({ ready }: Published, level: Pick<Level, "ready">): boolean =>
  level.ready && ready !== "given";

/** Without a title and a base that were given already: people may have given it others, as their rules for commits ask for. */
export function saidNow({ titled, based }: Published, { title, base, ...draft }: ChangeRequestDraft): Described {
  return { ...draft, ...(titled === sha256(title) ? {} : { title }), ...(based === base ? {} : { base }) };
}

/** Files whose changes run with the secrets of the repository's CI as soon as they are pushed. */
const RUN_BY_CI = new RegExp(
  [
    /^\.github(\/(workflows|actions)(\/|$)|$)/,
    /^\.(circleci|buildkite|semaphore|tekton|teamcity|woodpecker|builds|forgejo|gitea)(\/|$)/,
    /^\.?(gitlab-ci|drone|travis|appveyor|cirrus|woodpecker|bitbucket-pipelines|cloudbuild|buildspec|codefresh)\.(ya?ml|star)$/,
    /^azure-pipelines[^/]*\.ya?ml$/,
    /^(.*\/)?(Jenkinsfile[^/]*|action\.ya?ml)$/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "i",
);

export const isRunByCi = (path: string): boolean => RUN_BY_CI.test(path);
