import * as z from "zod";
import { type GitHubIssue, issueSchema } from "./bridge/issue-news.ts";
import { CallError } from "./pages.ts";
import type { RepositoryCalls } from "./repository.ts";

/** An issue that was asked for, or why there is none. */
export type WantedIssue = { readonly issue: GitHubIssue } | { readonly number: number; readonly problem: string };

const NUMBER = /^#?([1-9]\d{0,9})$/;
const MAX_FOUND = 100;
const foundSchema = z.object({ total_count: z.number(), items: z.array(issueSchema) });

/** The issues that people name: by their numbers, or in the words of GitHub's search. */
export async function issuesWanted(
  repository: RepositoryCalls,
  wanted: readonly string[],
): Promise<{ readonly issues: readonly WantedIssue[]; readonly more: number }> {
  const numbers = wanted.map((word) => NUMBER.exec(word)?.[1]);
  if (numbers.every((number) => number !== undefined)) {
    const issues: WantedIssue[] = [];
    for (const number of new Set(numbers)) issues.push(await issueOf(repository, Number(number)));
    return { issues, more: 0 };
  }
  const q = `${wanted.join(" ")} repo:${repository.fullName} is:issue`;
  const outcome = await repository.client.get("/search/issues", { query: { q, per_page: MAX_FOUND } });
  if (outcome.kind !== "ok") throw new CallError("the search", outcome);
  const { items, total_count: count } = foundSchema.parse(outcome.data);
  // Whatever the words said: of another repository nothing is taken.
  const own = items.filter((issue) => issue.pull_request === undefined && isOf(repository, issue));
  return { issues: own.map((issue) => ({ issue })), more: Math.max(0, count - items.length) };
}

const isOf = ({ fullName }: RepositoryCalls, { html_url: url }: GitHubIssue): boolean =>
  new URL(url).pathname.toLowerCase().startsWith(`/${fullName.toLowerCase()}/issues/`);

async function issueOf(repository: RepositoryCalls, number: number): Promise<WantedIssue> {
  const outcome = await repository.get(`/issues/${number}`);
  if (outcome.kind === "not-found") return { number, problem: "there is no such issue" };
  if (outcome.kind === "deleted") return { number, problem: "it was deleted" };
  if (outcome.kind === "moved") return { number, problem: `it was moved to ${await repository.movedTo(outcome.to)}` };
  if (outcome.kind !== "ok") throw new CallError(`issue #${number}`, outcome);
  const issue = issueSchema.parse(outcome.data);
  return issue.pull_request === undefined ? { issue } : { number, problem: "it is a pull request" };
}
