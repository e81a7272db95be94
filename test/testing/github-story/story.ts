import { setTimeout as sleep } from "node:timers/promises";
import type { FakeGitHub } from "../github/fake-github.ts";
import { branchHead } from "../github/git.ts";
import { type Person, reportCheck } from "../github/people.ts";
import type { Issue, Repository } from "../github/world.ts";
import type { PlanFiles } from "./plan-files.ts";

/** What people write in the story; the agent must be able to do something with it. */
export interface StoryWords {
  readonly title: string;
  readonly body: string;
  /** What the reviewer says to lines that the agent wrote. */
  readonly remarks: readonly { readonly path: string; readonly line: number; readonly body: string }[];
  readonly check: { readonly name: string; readonly log: string };
}

export interface StoryPlace {
  readonly github: FakeGitHub;
  /** ada and bob may write there, and eve may not. */
  readonly repository: Repository;
  readonly plans: PlanFiles;
  /** A person, or the CI, has done something. */
  tell(who: string, what: string): void;
  /** The dispatcher works for a while; called until what is waited for is there. */
  work(): Promise<void>;
}

export interface StoryNumbers {
  readonly issue: number;
  readonly pull: number;
  /** Pull requests that were drafts when they were made. */
  readonly drafts: number;
}

/** From an issue to a merged pull request, as people and prloom do it together. */
export async function playStory(place: StoryPlace, words: StoryWords): Promise<StoryNumbers> {
  const drafts = watchDrafts(place);
  // What was before the first look is not heard.
  await until(place, "the first look", () => place.plans.hasLooked());
  const issue = await planIsShown(place, words);
  const pull = await planIsImplemented(place, issue);
  await remarksAreAnswered(place, pull, words);
  await checkIsFixed(place, pull, words);
  await isMerged(place, pull, issue);
  return { issue: issue.number, pull: pull.number, drafts: drafts() };
}

/** Counts the pull requests that are drafts when they are first seen. */
function watchDrafts({ github, repository }: StoryPlace): () => number {
  const seen = new Map<number, boolean>();
  github.server.onSeen = () => {
    for (const { number, pull } of repository.issues.values())
      if (pull && !seen.has(number)) seen.set(number, pull.draft);
  };
  return () => [...seen.values()].filter((isDraft) => isDraft).length;
}

async function planIsShown(place: StoryPlace, { title, body }: StoryWords): Promise<Issue> {
  const issue = personIn(place, "eve").opens({ title, body });
  place.tell("eve", `opens the issue #${issue.number}: ${title}`);
  personIn(place, "ada").labels(issue.number, "prloom");
  place.tell("ada", "gives it the label prloom");
  await until(place, "the plan is shown", () => place.plans.isShown());
  return issue;
}

async function planIsImplemented(place: StoryPlace, issue: Issue): Promise<Issue> {
  personIn(place, "ada").comments(issue.number, "approved");
  place.tell("ada", `writes below the issue #${issue.number}: approved`);
  const pullOf = (): Issue | undefined => [...place.repository.issues.values()].find(({ pull }) => pull);
  await until(
    place,
    "the pull request is ready",
    () => isFinished(place, pullOf()) && isSaid(issue, /^approved by ada/m),
  );
  return pullOf()!;
}

async function remarksAreAnswered(place: StoryPlace, pull: Issue, { remarks }: StoryWords): Promise<void> {
  const before = headOf(pull);
  personIn(place, "bob").reviews(pull.number, { state: "CHANGES_REQUESTED", body: "", comments: remarks });
  place.tell("bob", `reviews the pull request #${pull.number} and asks for changes at ${remarks.length} lines`);
  for (const { path, line, body } of remarks) place.tell("bob", `at ${path}:${line}: ${body}`);
  await until(place, "the remarks are answered", () => {
    const answered = new Set(pull.pull?.reviewComments.flatMap(({ replyTo }) => replyTo ?? []));
    return answered.size === remarks.length && headOf(pull) !== before && isFinished(place, pull);
  });
}

async function checkIsFixed(place: StoryPlace, pull: Issue, { check: { name, log } }: StoryWords): Promise<void> {
  const { github, repository } = place;
  const before = headOf(pull);
  reportCheck(github.world, repository, { sha: before ?? "", name, conclusion: "failure", log });
  place.tell("CI", `the check ${name} fails: ${log.trim()}`);
  await until(place, "the check is fixed", () => headOf(pull) !== before && isFinished(place, pull));
  reportCheck(github.world, repository, { sha: headOf(pull) ?? "", name, conclusion: "success" });
  place.tell("CI", `the check ${name} passes`);
}

async function isMerged(place: StoryPlace, pull: Issue, issue: Issue): Promise<void> {
  const { id } = personIn(place, "bob").reviews(pull.number, { state: "APPROVED", body: "" });
  place.tell("bob", `approves the pull request #${pull.number}`);
  await until(place, "the approval is heard", () => place.plans.hasHeard(`github-review-${id}`));
  personIn(place, "ada").merges(pull.number);
  place.tell("ada", `merges the pull request #${pull.number}`);
  const branch = pull.pull?.head.branch ?? "";
  await until(place, "all is cleaned up", () => {
    const isThere = branchHead(place.repository.folder, branch) !== undefined;
    const isDone = place.plans.record()?.status === "done" && !place.plans.hasWorktree() && !isThere;
    return isDone && isSaid(issue, /^\*\*prloom\*\*: this is done, and merged/);
  });
}

/** So often the dispatcher is started for one thing, whatever is in its way. */
const MAX_STARTS = 60;
/** Some things are waited for: a limit, the rest of a review. */
const PAUSE_MS = 2000;

async function until(place: StoryPlace, what: string, isThere: () => boolean): Promise<void> {
  for (let start = 0; start < MAX_STARTS; start += 1) {
    await place.work();
    if (isThere()) return;
    await sleep(PAUSE_MS);
  }
  throw new Error(`It did not come to this: ${what}. The plan: ${JSON.stringify(place.plans.record(), null, 2)}`);
}

const personIn = ({ github, repository }: StoryPlace, login: string): Person => github.person(repository, login);

const isSaid = ({ comments }: Issue, words: RegExp): boolean => comments.some(({ body }) => words.test(body));

const headOf = ({ pull }: Issue): string | undefined => pull?.head.sha;

/** All TODOs are done, and GitHub has what came of them. */
function isFinished({ plans }: StoryPlace, pull: Issue | undefined): boolean {
  const record = plans.record();
  const isWhole = record?.status === "review" && !record.current && !record.side && plans.openTodos() === 0;
  return isWhole && pull?.pull?.draft === false && pull.pull.head.sha === plans.head();
}
