import type { Repository } from "../repository.ts";
import { GitFailure } from "../run.ts";
import { gitRemote, type Remote, remoteTip } from "./remote.ts";

export interface Pushed {
  readonly branch: string;
  readonly sha: string;
  /** What we pushed there last; undefined: it must not be there yet. */
  readonly expected: string | undefined;
}

export type PushOutcome =
  /** Also where it was there already, by a push whose answer was lost. */
  | { readonly kind: "pushed" }
  /** A person moved or deleted it. */
  | { readonly kind: "diverged"; readonly tip: string | undefined }
  /** `mayNotWrite`: the account may not push there at all. */
  | { readonly kind: "refused"; readonly reason: string; readonly mayNotWrite?: true }
  | { readonly kind: "failed"; readonly reason: string };

/** Makes a branch on the server what it is here, unless a person changed it there meanwhile. */
export function pushBranch(repo: Repository, remote: Remote, { branch, ...pushed }: Pushed): Promise<PushOutcome> {
  return pushRef(repo, remote, { ref: `refs/heads/${branch}`, ...pushed });
}

export interface PushedRef extends Pick<Pushed, "expected"> {
  /** Whole. */
  readonly ref: string;
  /** Undefined: it is to be gone. */
  readonly sha: string | undefined;
}

/** The same for any ref. */
export async function pushRef(
  repo: Repository,
  remote: Remote,
  { ref, sha, expected }: PushedRef,
): Promise<PushOutcome> {
  const args = [
    "push",
    "--porcelain",
    "--no-verify",
    `--force-with-lease=${ref}:${expected ?? ""}`,
    remote.url,
    `${sha ?? ""}:${ref}`,
  ];
  try {
    const { code, stdout, stderr } = await gitRemote(repo, remote, { args, allowExit: [1] });
    if (code === 0) return { kind: "pushed" };
    const tip = await remoteTip(repo, remote, ref);
    if (tip === sha) return { kind: "pushed" };
    if (tip !== expected) return { kind: "diverged", tip };
    const reason = saidByServer(stderr);
    return { kind: REJECTED.test(stdout) && !QUEUED.test(reason) ? "refused" : "failed", reason };
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    const reason = saidByServer(error.words);
    return FORBIDDEN.test(error.words) ? { kind: "refused", reason, mayNotWrite: true } : { kind: "failed", reason };
  }
}

/** Git's words where the token may not write there; asked again it may not either. */
const FORBIDDEN = /The requested URL returned error: 403/;

/**
 * Git's line about a branch that the server did not take. Without it the connection broke, and that passes; so does trouble of the server's
 * own, for which GitHub has these two words there.
 */
const REJECTED = /^!\t.*\t\[(remote )?rejected\](?! \((Internal Server Error|failure)\))/m;

/** GitHub's words for a branch that waits in a merge queue, whoever put it there: it leaves that by itself. */
const QUEUED = /\bqueued for merging cannot be updated\b/;

const MAX_REASON = 1000;

/** The server's own words, where it said any. */
function saidByServer(stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.trimEnd());
  const remote = lines.filter((line) => line.startsWith("remote:")).map((line) => line.slice("remote:".length).trim());
  const said = remote.filter(Boolean).length > 0 ? remote : lines;
  return said.filter(Boolean).join(" ").slice(0, MAX_REASON);
}
