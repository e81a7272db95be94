import type { BridgeContext, BridgeEvent } from "../../bridges/contract.ts";
import { ISSUE_EDITED } from "../../bridges/triggers.ts";
import { hasWritePermission } from "../../bus/author.ts";
import type { Clock } from "../../kernel/clock.ts";
import { messageOf } from "../../kernel/errors.ts";
import type { OwnEdits } from "../body/own-edits.ts";
import { allPages, CallError, changedSince, onePage, readAgainFrom } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import { authorIn } from "../tracker/comments.ts";
import type { Permissions } from "../tracker/permissions.ts";
import { ISSUE_TARGET, SYSTEM } from "../tracker/tracker.ts";
import {
  cursorAfter,
  type GitHubIssue,
  type Happening,
  happeningsSchema,
  type IssueCursor,
  isChanged,
  issueSchema,
  issuesSchema,
  type KnownText,
  knownText,
  labelsOf,
  type News,
  newsOf,
  presentCursor,
  type ToldEvent,
} from "./issue-news.ts";
import { LookTime } from "./look-time.ts";
import { editorSince, editsSince, isRewritten, type Rewriting, rewritingsOf } from "./rewritten.ts";

export interface HeardIssues {
  readonly events: readonly BridgeEvent[];
  readonly cursor: IssueCursor;
}

export interface Looking {
  readonly repository: RepositoryCalls;
  /** All that the repository is and was called. */
  readonly names: readonly string[];
  readonly permissions: Permissions;
  readonly clock: Clock;
  readonly log: Pick<BridgeContext["log"], "warn">;
  readonly ownEdits: OwnEdits;
  /** The numbers of issues that have open plans, or are about to. */
  readonly planned: ReadonlySet<number>;
}

/** With more than these GitHub is out of order: then no more is taken, and the rest is asked for again. */
const MAX_HELD = 50;

/** What happened to the issues of a repository since the last look. The first look hears nothing. */
export async function hearIssues(looking: Looking, cursor: IssueCursor | undefined): Promise<HeardIssues> {
  const { repository } = looking;
  if (cursor) return new Look(looking, cursor).hear();
  const query = { state: "all", sort: "updated", direction: "desc" };
  const { items } = await onePage(repository, "/issues", { query, schema: issuesSchema });
  return { events: [], cursor: presentCursor(items, repository.id) };
}

/** One look at what changed. */
class Look {
  readonly #looking: Looking;
  readonly #cursor: IssueCursor;
  readonly #time: LookTime;
  readonly #events: BridgeEvent[] = [];
  readonly #told: ToldEvent[] = [];
  readonly #held: Record<string, string> = {};
  readonly #texts: Record<string, KnownText>;

  constructor(looking: Looking, cursor: IssueCursor) {
    this.#looking = looking;
    this.#cursor = cursor;
    const known = Object.entries(cursor.texts ?? {});
    this.#texts = Object.fromEntries(known.filter(([number]) => looking.planned.has(Number(number))));
    this.#time = new LookTime(looking.clock);
  }

  async hear(): Promise<HeardIssues> {
    const began = this.#looking.repository.client.timeThere();
    const read = new Map<number, GitHubIssue>();
    const isWhole = await this.#readChanged(read);
    for (const [number, from] of this.#time.inTurn(Object.entries(this.#cursor.held))) {
      if (this.#time.mayBegin()) await this.#lookAgain(number, from);
      else this.#held[number] = from;
    }
    const issues = [...read.values()];
    const after = { issues, isWhole, told: this.#told, held: this.#held, texts: this.#texts, began };
    return { events: this.#events, cursor: cursorAfter(after, this.#cursor) };
  }

  /** False where the time was over before all were looked at. */
  async #readChanged(read: Map<number, GitHubIssue>): Promise<boolean> {
    const { at, since = readAgainFrom(at) } = this.#cursor;
    const list = { since, query: { state: "all" }, schema: issuesSchema };
    for await (const issues of changedSince(this.#looking.repository, "/issues", list)) {
      for (const issue of issues) {
        if (read.get(issue.number)?.updated_at === issue.updated_at) continue;
        if (isChanged(issue, this.#cursor)) {
          if (!this.#time.mayBegin()) return false;
          const { from } = this.#cursor;
          if (!(await this.#orHold(issue.number, from, () => this.#look(issue, from)))) return false;
        }
        read.set(issue.number, issue);
      }
    }
    return true;
  }

  async #lookAgain(number: string, from: string): Promise<void> {
    await this.#orHold(Number(number), from, async () => {
      const path = `/issues/${number}`;
      const outcome = await this.#looking.repository.get(path);
      if (outcome.kind !== "ok") throw new CallError(path, outcome);
      await this.#look(issueSchema.parse(outcome.data), from);
    });
  }

  /** One issue that cannot be read keeps no other waiting; it is looked at again. False where too many of them wait. */
  async #orHold(number: number, from: string, look: () => Promise<void>): Promise<boolean> {
    try {
      await look();
    } catch (error) {
      const kind = error instanceof CallError ? error.kind : "failed";
      if (kind === "not-found" || kind === "deleted" || kind === "moved") return true;
      if (kind === "limited" || kind === "unauthorised") throw error;
      const held = { ...this.#cursor.held, ...this.#held };
      if (!(number in held) && Object.keys(held).length >= MAX_HELD) return false;
      this.#held[number] = from;
      this.#looking.log.warn(`issue #${number} is held back: ${messageOf(error)}`);
    }
    return true;
  }

  async #look(issue: GitHubIssue, from: string): Promise<void> {
    const { repository } = this.#looking;
    const happened = await allPages(repository, `/issues/${issue.number}/events`, { schema: happeningsSchema });
    const told = [...this.#cursor.told, ...this.#told];
    const news = newsOf(issue, happened, { from, told, repositoryId: repository.id });
    let rewritings: Promise<readonly Rewriting[]> | undefined;
    const ask = (): Promise<readonly Rewriting[]> => (rewritings ??= this.#rewritings(issue, happened));
    const events: BridgeEvent[] = [];
    for (const one of news) events.push(await eventOf(this.#looking, issue, one, ask));
    const isPlanned = this.#looking.planned.has(issue.number) || news.length > 0;
    events.push(...(isPlanned ? await this.#edited(issue, ask) : []));
    if (isPlanned) this.#texts[issue.number] = knownText(issue);
    this.#events.push(...events);
    this.#told.push(...news.map(({ id, at }) => ({ id, at })));
  }

  async #rewritings(issue: GitHubIssue, happened: readonly Happening[]): Promise<readonly Rewriting[]> {
    const { repository, ownEdits } = this.#looking;
    return rewritingsOf(repository, issue, happened, await ownEdits.of(issue.number));
  }

  /** That an issue says something else than at the last look, by the one of those who changed it who may do least. */
  async #edited(issue: GitHubIssue, ask: () => Promise<readonly Rewriting[]>): Promise<BridgeEvent[]> {
    const { repository, permissions } = this.#looking;
    const [before, now] = [this.#texts[issue.number], knownText(issue)];
    if (before?.sha256 === now.sha256) return [];
    // One that was imported was never looked at: then only what was changed since the last look counts.
    const since = { since: before?.at ?? this.#cursor.from, createdAt: issue.created_at };
    const rewritings = before || this.#looking.planned.has(issue.number) ? await ask() : [];
    if (!before && editsSince(rewritings, since).length === 0) return [];
    const event = eventFor(this.#looking, issue);
    const author = await editorSince(permissions, rewritings, since);
    const id = `github-edit-${repository.id}-${issue.number}-${Date.parse(now.at)}-${now.sha256.slice(0, 12)}`;
    return [{ ...event, id, type: ISSUE_EDITED, context: { ...event.context, at: now.at, author } }];
  }
}

/** What is told of an issue, whatever happened to it. */
export const eventFor = (
  { repository: { id, fullName }, names }: Pick<Looking, "repository" | "names">,
  issue: GitHubIssue,
) => {
  const thread = `${id}#${issue.number}`;
  return {
    ...{ severity: "info" as const, title: issue.title, body: issue.body ?? "" },
    replyTo: { target: ISSUE_TARGET, token: thread },
    context: {
      source: { system: SYSTEM, kind: "issue", id: thread },
      ...{ repo: fullName, repos: names, url: issue.html_url },
      ...{ labels: labelsOf(issue), assignees: (issue.assignees ?? []).map(({ login }) => login) },
    },
  };
};

async function eventOf(
  looking: Looking,
  issue: GitHubIssue,
  news: News,
  rewritings: () => Promise<readonly Rewriting[]>,
): Promise<BridgeEvent> {
  const { permissions } = looking;
  const author = { ...authorIn(news.actor), ...(news.byApp ? { bot: true } : {}) };
  const permission = news.byApp ? "none" : await permissions.of(author);
  // What a stranger did makes no plan, so it does not matter then.
  const counts = hasWritePermission({ permission });
  const rewritten = counts && (await isRewritten(permissions, await rewritings(), news.at));
  const opener = authorIn(issue.user);
  const { label, assignee } = news;
  return {
    ...{ ...eventFor(looking, issue), id: news.id, type: news.type },
    context: {
      ...eventFor(looking, issue).context,
      at: news.at,
      ...(label === undefined ? {} : { label }),
      ...(assignee === undefined ? {} : { assignee }),
      ...(rewritten ? { rewritten: true } : {}),
      ...(counts ? { opener: { ...opener, permission: await permissions.of(opener) } } : {}),
      author: { ...author, permission },
    },
  };
}
