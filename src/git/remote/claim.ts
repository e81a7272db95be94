import { isFields, jsonIn } from "../../kernel/json-fields.ts";
import type { Repository } from "../repository.ts";
import { GitFailure, git } from "../run.ts";
import { pushRef } from "./push.ts";
import { gitRemote, type Remote, remoteTip } from "./remote.ts";

/** Which clone works on something, as all that can read the repository see it. */
export interface CloneClaim {
  readonly claimer: string;
  /** What people call the machine. */
  readonly name: string;
  readonly at: string;
}

export type ClaimOutcome =
  /** Also where it was claimed by this clone before. */
  | { readonly kind: "ours" }
  | { readonly kind: "theirs"; readonly claim: Pick<CloneClaim, "name" | "at"> }
  | { readonly kind: "refused" | "failed"; readonly reason: string; readonly mayNotWrite?: true };

export interface AskedClaim {
  /** Whole, as in `refs/prloom/claims/12`. */
  readonly ref: string;
  readonly claim: CloneClaim;
  readonly how?: ClaimHow;
}

/** `look`: nothing is claimed, it only tells whether it could be. `take-over`: a person says that the claim of another clone is void. */
export type ClaimHow = "claim" | "look" | "take-over";

/**
 * Claims something by a ref, which the server makes for one clone alone. It leads to a commit without files, whose message says whose it is: branches and
 * tags would be seen by people and by CI.
 */
export async function claimRef(repo: Repository, remote: Remote, asked: AskedClaim): Promise<ClaimOutcome> {
  const { ref, claim, how = "claim" } = asked;
  try {
    if (how === "look") return await look(repo, remote, asked);
    const sha = await commitOf(repo, claim);
    const made = await pushRef(repo, remote, { ref, sha, expected: undefined });
    if (made.kind === "pushed") return { kind: "ours" };
    if (made.kind !== "diverged") return made;
    // Gone again meanwhile: the next try gets it.
    if (made.tip === undefined) return { kind: "failed", reason: `${ref} was just released` };
    const theirs = await readClaim(repo, remote, made.tip);
    if (theirs.claimer === claim.claimer) return { kind: "ours" };
    if (how !== "take-over") return { kind: "theirs", claim: theirs };
    const taken = await pushRef(repo, remote, { ref, sha, expected: made.tip });
    if (taken.kind === "pushed") return { kind: "ours" };
    return taken.kind === "diverged" ? { kind: "failed", reason: `${ref} was claimed anew meanwhile` } : taken;
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    return { kind: "failed", reason: error.words };
  }
}

async function look(repo: Repository, remote: Remote, { ref, claim }: AskedClaim): Promise<ClaimOutcome> {
  const tip = await remoteTip(repo, remote, ref);
  const there = tip === undefined ? claim : await readClaim(repo, remote, tip);
  return there.claimer === claim.claimer ? { kind: "ours" } : { kind: "theirs", claim: there };
}

export type ReleaseOutcome =
  /** Also where it was not, or no longer, this clone's. */
  { readonly kind: "released" } | { readonly kind: "refused" | "failed"; readonly reason: string };

/** Takes a claim of this clone back; one of another stays. */
export async function releaseRef(
  repo: Repository,
  remote: Remote,
  { ref, claimer }: { readonly ref: string; readonly claimer: string },
): Promise<ReleaseOutcome> {
  try {
    const tip = await remoteTip(repo, remote, ref);
    if (tip === undefined || (await readClaim(repo, remote, tip)).claimer !== claimer) return { kind: "released" };
    const outcome = await pushRef(repo, remote, { ref, sha: undefined, expected: tip });
    return outcome.kind === "refused" || outcome.kind === "failed" ? outcome : { kind: "released" };
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    return { kind: "failed", reason: error.words };
  }
}

async function commitOf({ root, commonDir }: Repository, claim: CloneClaim): Promise<string> {
  const at = { cwd: root, gitDir: commonDir };
  const tree = (await git(["hash-object", "-w", "-t", "tree", "--stdin"], { ...at, input: "" })).stdout.trim();
  const who = { NAME: "prloom", EMAIL: "prloom@localhost", DATE: claim.at };
  const env = Object.fromEntries(
    Object.entries(who).flatMap(([key, value]) => [
      [`GIT_AUTHOR_${key}`, value],
      [`GIT_COMMITTER_${key}`, value],
    ]),
  );
  return (await git(["commit-tree", tree], { ...at, env, input: JSON.stringify(claim) })).stdout.trim();
}

const MAX_CLAIM = 64 * 1024;
const UNKNOWN: CloneClaim = { claimer: "", name: "an unknown machine", at: "" };

/** What is not a claim of prloom's is another's all the same. */
async function readClaim(repo: Repository, remote: Remote, sha: string): Promise<CloneClaim> {
  const options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no"];
  await gitRemote(repo, remote, { args: ["fetch", ...options, remote.url, sha] });
  const args = ["log", "-1", "--format=%B", sha];
  const { root, commonDir } = repo;
  const { code, stdout } = await git(args, { cwd: root, gitDir: commonDir, allowExit: [128], maxOutput: MAX_CLAIM });
  const written = code === 0 ? jsonIn(stdout) : undefined;
  if (!isFields(written)) return UNKNOWN;
  const { claimer, name, at } = written;
  const isClaim = typeof claimer === "string" && typeof name === "string" && typeof at === "string";
  return isClaim ? { claimer, name: name.slice(0, 200), at: at.slice(0, 50) } : UNKNOWN;
}
