import type { ServerForge } from "../../forge/port.ts";
import { claimRef, releaseRef } from "../../git/remote/claim.ts";
import type { Repository } from "../../git/repository.ts";
import type { PlanSource } from "../../plan/plan-types.ts";
import type { Connection } from "../connection.ts";
import type { RepositoryCalls } from "../repository.ts";
import { SYSTEM } from "../tracker/tracker.ts";
import type { AtRemote } from "./remote.ts";

interface ClaimsOptions {
  readonly connection: Pick<Connection, "repository">;
  readonly repo: Repository;
  readonly atRemote: AtRemote;
}

/** Which clone makes the plan of an issue. */
export function claimsAt({ connection, repo, atRemote }: ClaimsOptions): Pick<ServerForge, "claim" | "release"> {
  return {
    async claim(source, claim, how) {
      const repository = await connection.repository();
      const number = issueOf(repository, source);
      if (number === undefined) return undefined;
      const outcome = await atRemote((there) => claimRef(repo, there, { ref: claimOf(number), claim, how }));
      return { ...outcome, name: `${repository.fullName}#${number}` };
    },
    async release(source, claimer) {
      const number = issueOf(await connection.repository(), source);
      if (number === undefined) return;
      const outcome = await atRemote((there) => releaseRef(repo, there, { ref: claimOf(number), claimer }));
      if (outcome.kind !== "released")
        throw new Error(`the claim of issue #${number} is not released: ${outcome.reason}`);
    },
  };
}

const claimOf = (number: number): string => `refs/prloom/claims/${number}`;

/** Undefined for what is not an issue of this repository. */
function issueOf({ id }: RepositoryCalls, { system, kind, id: thread }: PlanSource): number | undefined {
  const [, repository, number] = /^(\d+)#(\d+)$/.exec(thread) ?? [];
  return system === SYSTEM && kind === "issue" && repository === String(id) ? Number(number) : undefined;
}
