import { gitAt, resolveCommit } from "../../git/repository.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import type { Publishing, Reporting } from "../capabilities.ts";
import type { Located } from "../paths.ts";

/**
 * The newest commit of a base branch: here, or with a forge on a server there, and while that cannot be asked as it was last, unless it
 * must be fresh. Undefined where the branch is not there.
 */
export async function baseTip(
  loom: Located & Publishing & Reporting,
  branch: string,
  mustBeFresh = false,
): Promise<string | undefined> {
  if (loom.forge.name === "local") return resolveCommit(loom.repo, `refs/heads/${branch}`);
  const ref = `refs/prloom/base/${branch}`;
  const fetched = await fetchBase(loom.forge, branch);
  if (fetched.kind === "absent") return undefined;
  if (fetched.kind === "fetched") {
    // A ref of ours: what was fetched stays, and the person's branches are theirs.
    await gitAt(loom.repo, ["update-ref", ref, fetched.sha]);
    return fetched.sha;
  }
  const known = await resolveCommit(loom.repo, ref);
  if (known === undefined || mustBeFresh) throw unreachable(fetched.reason);
  const text = `${branch} cannot be fetched, so it is taken as it was at ${known.slice(0, 8)}: ${fetched.reason}`;
  loom.report({ level: "warn", text });
  return known;
}

async function fetchBase(forge: Exclude<Publishing["forge"], { name: "local" }>, branch: string) {
  try {
    return await (await forge.server()).fetch(branch);
  } catch (error) {
    return { kind: "failed" as const, reason: messageOf(error) };
  }
}

/** It passes by itself. */
export const unreachable = (reason: string, next = "Nothing is lost, and prloom tries again."): PrloomError =>
  new PrloomError(
    "forge-unreachable",
    `GitHub cannot be asked now: ${reason}`,
    `${next} \`prloom doctor\` tells whether the token is good.`,
  );
