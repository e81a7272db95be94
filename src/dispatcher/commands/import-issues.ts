import type { RawUpsert } from "../../bridges/core/upsert.ts";
import { refuseBrought } from "../../git/tracked.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { type Upserting, upsertPlans } from "../buses/upsert.ts";
import type { Waking } from "../capabilities.ts";
import { inboxOf } from "../paths.ts";
import { type Claimant, claimFor, oneByOne } from "../publishing/claims.ts";
import { NO_FORKS } from "../publishing/push-refusals.ts";
import { requireAsStarted } from "./bus.ts";

export interface ImportRequest {
  /** Numbers, or the words of a search. */
  readonly wanted: readonly string[];
  readonly queue: boolean;
  readonly dryRun: boolean;
  /** Also those that another clone has claimed. */
  readonly claim: boolean;
}

/** What became of an issue. Without a plan and a problem: it would be imported. */
export interface Imported {
  readonly number: number;
  readonly title?: string;
  readonly planId?: string;
  /** The plan was there before. */
  readonly had?: string;
  readonly problem?: string;
}

export interface ImportReport {
  readonly repository: string;
  readonly issues: readonly Imported[];
  /** Found, and left for another search. */
  readonly more: number;
}

/** A source that is claimed becomes a plan. */
type IssueImporting = Claimant & Upserting & Waking;

/** Makes plans of issues that are older than the first start, one for each; a source that has a plan keeps it. */
export async function importIssues(loom: IssueImporting, request: ImportRequest): Promise<ImportReport> {
  const { github } = loom;
  const { wanted, queue } = request;
  if (!github)
    throw new PrloomError(
      "usage",
      "The config names no repository on GitHub.",
      'Add "github": {"repo": "<owner>/<name>"} to prloom/config.json.',
    );
  if (!loom.isDispatching) await requireAsStarted(loom);
  await refuseBrought(loom.repo, inboxOf(loom.paths, "any").text);
  const [{ issuesWanted }, { CallError }, { SYSTEM }] = await Promise.all([
    import("../../github/issues-wanted.ts"),
    import("../../github/pages.ts"),
    import("../../github/tracker/tracker.ts"),
  ]);
  try {
    const { connection } = await github();
    const repository = await connection.repository();
    const { issues, more } = await issuesWanted(repository, wanted);
    const done: Imported[] = [];
    for (const one of issues) {
      if ("problem" in one) done.push(one);
      else {
        const { number, title, body } = one.issue;
        const source = { system: SYSTEM, kind: "issue", id: `${repository.id}#${number}` };
        const text = body?.trim() ? { planMarkdown: body } : {};
        const status = queue ? "queued" : "draft";
        const payload: RawUpsert = { type: "upsert_plan", source, title, ...text, status };
        done.push({ number, title, ...(await imported(loom, payload, request)) });
      }
    }
    return { repository: repository.fullName, issues: done, more };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    throw new PrloomError("github-failed", `${error.message}.`, "`prloom doctor` says what the token can do.");
  }
}

type Became = Omit<Imported, "number" | "title">;

async function imported(loom: IssueImporting, payload: RawUpsert, { dryRun, claim }: ImportRequest): Promise<Became> {
  const { system = "", kind = "", id = "" } = payload.source;
  const source = { system, kind, id };
  const record = loom.store.bySource(source);
  if (record && !record.deleted) return { planId: record.id, had: record.status };
  if (dryRun && claim) return {};
  return oneByOne(loom, source, async () => {
    const claimed = await claimFor(loom, source, dryRun ? "look" : claim ? "take-over" : "claim");
    if (claimed.kind === "ours") return dryRun ? {} : made(loom, payload);
    if (claimed.kind !== "theirs")
      return { problem: claimed.mayNotWrite ? `${claimed.reason} (${NO_FORKS})` : claimed.reason };
    const { by, at } = claimed.claim;
    return { problem: `it is claimed by ${by}${at === "" ? "" : ` since ${at}`} (--claim takes it over)` };
  });
}

async function made(loom: Upserting & Waking, payload: RawUpsert): Promise<Became> {
  const { result, safe } = upsertPlans(loom, [payload]);
  await safe;
  const [outcome] = result;
  if (!outcome || "error" in outcome) throw outcome?.error;
  const { upserted } = outcome;
  if (!("planId" in upserted)) return { problem: "reason" in upserted ? upserted.reason : upserted.kind };
  if (loom.lifecycle().lookAt([upserted.planId]).length > 0) loom.wakeBus();
  loom.wake(upserted.planId);
  return { planId: upserted.planId };
}
