import * as z from "zod";
import type { RepositoryCalls } from "../repository.ts";
import type { Check } from "./check-state.ts";
import { PULL_TARGET } from "./pull-address.ts";
import type { PullEvent } from "./pull-news.ts";

const annotationsSchema = z.array(
  z.object({
    path: z.string(),
    start_line: z.number().nullish(),
    annotation_level: z.string().nullish(),
    message: z.string().nullish(),
  }),
);

const MAX_ANNOTATIONS = 20;
const LOG_LINES = 80;
const MAX_LINE = 500;
const MAX_LOG_BYTES = 16 * 1024 * 1024;
const LOG_DEADLINE_MS = 20_000;

/** What a failed check says: its annotations, and its log up to the last error. */
export async function reportOf(repository: RepositoryCalls, check: Check): Promise<string> {
  const annotations = check.checkRun === undefined ? [] : await annotationsOf(repository, check.checkRun);
  const log = check.job === undefined ? "" : await logOf(repository, check.job);
  return [check.says, annotations.join("\n"), log && excerptOf(log)].filter((part) => part !== "").join("\n\n");
}

/** A report lacks what cannot be read: that the check is red is known all the same. */
async function annotationsOf(repository: RepositoryCalls, id: number): Promise<string[]> {
  const outcome = await repository.get(`/check-runs/${id}/annotations`, { query: { per_page: MAX_ANNOTATIONS } });
  if (outcome.kind !== "ok") return [];
  return annotationsSchema
    .parse(outcome.data)
    .slice(0, MAX_ANNOTATIONS)
    .map(({ path, start_line: line, annotation_level: level, message }) =>
      `${path}:${line ?? 0}: ${level ?? "notice"}: ${message ?? ""}`.slice(0, MAX_LINE),
    );
}

async function logOf(repository: RepositoryCalls, job: number): Promise<string> {
  const outcome = await repository.get(`/actions/jobs/${job}/logs`);
  if (outcome.kind !== "moved") return "";
  try {
    // Another server has it, to which the token is not sent.
    const response = await fetch(outcome.to, { signal: AbortSignal.timeout(LOG_DEADLINE_MS) });
    return response.ok && response.body ? await endOf(response.body) : "";
  } catch {
    // It may be gone, or too slow.
    return "";
  }
}

/** The error is at its end. */
async function endOf(body: ReadableStream<Uint8Array>): Promise<string> {
  let chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size <= MAX_LOG_BYTES) continue;
    chunks = [Buffer.concat(chunks).subarray(-MAX_LOG_BYTES / 2)];
    size = MAX_LOG_BYTES / 2;
  }
  return Buffer.concat(chunks).toString("utf8");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: logs have colours.
const COLOURS = /\u001b\[[\d;]*[A-Za-z]/g;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z /;
const ERROR = /##\[error\]|\berror\b|\bfail(?:ed|ure)?\b|\bpanic\b|✖|✗/i;

/** Pure: the lines up to the last one that tells of an error. */
export function excerptOf(log: string): string {
  const lines = log.split(/\r?\n/).map((line) => line.replace(TIME, "").replace(COLOURS, "").slice(0, MAX_LINE));
  const last = lines.findLastIndex((line) => ERROR.test(line));
  const end = last === -1 ? lines.length : last + 1;
  return lines
    .slice(Math.max(0, end - LOG_LINES), end)
    .join("\n")
    .trim();
}

export interface RedCheck {
  readonly check: Check;
  readonly thread: string;
  readonly sha: string;
  readonly report: string;
  /** The branch on which it fails, too. */
  readonly redOn?: string | undefined;
}

/** Pure: the event of a check that failed. Where it is not the plan's work, it is information. */
export function failedCheckEvent({ check, thread, sha, report, redOn }: RedCheck): PullEvent {
  const { id, name, isRequired } = check;
  const also = redOn === undefined ? "" : `, as on ${redOn}`;
  return {
    ...{ id: `github-check-${id}`, type: "check_failed", severity: redOn === undefined ? "error" : "info" },
    ...{ title: `The check ${name} failed${also}`, body: report, replyTo: { target: PULL_TARGET, token: thread } },
    context: { check: name, sha, required: isRequired, ...(redOn === undefined ? {} : { information: true }) },
  };
}

/** Pure: all checks that count passed. */
export function greenEvent(thread: string, sha: string): PullEvent {
  return {
    ...{ id: `github-checks-${thread}-${sha}`, type: "checks_passed", severity: "info", title: "The checks passed" },
    ...{ body: "", replyTo: { target: PULL_TARGET, token: thread }, context: { sha } },
  };
}
