import { git } from "../../test/testing/github/git.ts";
import type { Comment, Issue, Repository } from "../../test/testing/github/world.ts";

/** What a person sees of a text on GitHub. */
const seen = (body: string): string =>
  body
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(/^\s+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();

const indented = (text: string): string => text.replace(/^(?=.)/gm, "    ");

const said = ({ user, body }: Pick<Comment, "user" | "body">): string => `  ${user.login}\n${indented(seen(body))}`;

function find(repository: Repository, number: number): Issue {
  const issue = repository.issues.get(number);
  if (!issue) throw new Error(`there is no #${number}`);
  return issue;
}

export function issueText(repository: Repository, number: number): string {
  const issue = find(repository, number);
  const { title, labels, comments } = issue;
  const heading = `Issue #${number}  ${title}  [${[...labels].join()}]`;
  return [heading, said(issue), ...comments.map(said), ""].join("\n\n");
}

export function pullText(repository: Repository, number: number): string {
  const issue = find(repository, number);
  const { pull } = issue;
  if (!pull) throw new Error(`#${number} is no pull request`);
  const range = `${pull.merged?.sha}~1..${pull.head.sha}`;
  const commits = git(repository.folder, ["log", "--reverse", "--format=%h %s", range]);
  const threads = [...Map.groupBy(pull.reviewComments, ({ thread }) => thread.id).values()];
  const checks = repository.checkRuns.map(({ name, sha, conclusion }) => `${sha.slice(0, 7)} ${name}: ${conclusion}`);
  const verdicts = pull.reviews.filter(({ state }) => state !== "COMMENTED");
  const reviews = verdicts.map(({ user, state }) => `${user.login}: ${state.toLowerCase().replace("_", " ")}`);
  return [
    `Pull request #${number}  ${issue.title}  [${pull.merged ? "merged" : issue.state}]`,
    said(issue),
    `  Commits\n${indented(commits)}`,
    ...threads.map((thread) => `  ${thread[0]?.path}:${thread[0]?.line}\n${indented(thread.map(said).join("\n"))}`),
    `  Checks\n${indented(checks.join("\n"))}`,
    `  Reviews\n${indented(reviews.join("\n"))}`,
    "",
  ].join("\n\n");
}

interface Words {
  readonly where: string;
  readonly text: string;
}

/** What a login wrote since the last call; of what it edited the lines that are new. */
export function newWords(repository: Repository, login: string): () => Words[] {
  const known = new Map<number, string>();
  const take = (where: string, { id, user, body }: Comment): Words[] => {
    const before = known.get(id);
    if (user.login !== login || before === body) return [];
    known.set(id, body);
    if (before === undefined) return [{ where, text: seen(body) }];
    return [{ where: `${where}, into what stands there`, text: seen(body.slice(commonLength(before, body))) }];
  };
  return () =>
    [...repository.issues.values()].flatMap(({ number, comments, pull }) => [
      ...comments.flatMap((one) => take(`below the ${pull ? "pull request" : "issue"} #${number}`, one)),
      ...(pull?.reviewComments ?? []).flatMap((one) => take(`in the thread at ${one.path}:${one.line}`, one)),
    ]);
}

/** How many characters two texts begin with in common, up to the end of a line. */
function commonLength(one: string, other: string): number {
  const lines = one.split("\n");
  const others = other.split("\n");
  const at = lines.findIndex((line, index) => line !== others[index]);
  return lines.slice(0, at === -1 ? lines.length : at).join("\n").length;
}
