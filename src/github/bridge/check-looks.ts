import type { BridgeContext } from "../../bridges/contract.ts";
import type { Clock } from "../../kernel/clock.ts";
import { messageOf } from "../../kernel/errors.ts";
import { CallError } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import { failedCheckEvent, greenEvent, reportOf } from "./check-report.ts";
import { actionsOf, type Check, checkName, checksTogether, countingOf, headChecks, redOn, stateOf } from "./checks.ts";
import type { Beat } from "./pull-beat.ts";
import { type ChecksState, isCheckDue, type KnownPull, type PullEvent } from "./pull-news.ts";

export interface LookingAtChecks {
  readonly repository: RepositoryCalls;
  readonly clock: Clock;
  readonly log: Pick<BridgeContext["log"], "warn">;
  /** Failed jobs run once more before they are told. */
  readonly rerun: boolean;
}

/** What became of checks: what is known then, and what is to be told. */
interface Checked {
  readonly known: Partial<KnownPull>;
  readonly events: readonly PullEvent[];
}

/** The checks of the heads of pull requests in one look; those that failed are asked for together. */
export class CheckLooks {
  readonly #looking: LookingAtChecks;
  #together: ReadonlyMap<string, readonly Check[]> = new Map();
  readonly #redOn = new Map<string, Promise<ReadonlySet<string>>>();
  #isTold = false;

  constructor(looking: LookingAtChecks) {
    this.#looking = looking;
  }

  /** Asks for those of which the summary does not tell enough. What cannot be asked for together is asked for one by one. */
  async prepare(heads: readonly { readonly known: KnownPull; readonly beat: Beat }[]): Promise<void> {
    const red = heads.filter(({ known, beat }) => beat.checks === "red" && beat.head === known.head);
    if (red.length < 2) return;
    const ids = red.map(({ known }) => known.nodeId);
    try {
      this.#together = await checksTogether(this.#looking.repository, ids);
    } catch (error) {
      if (error instanceof CallError && (error.kind === "limited" || error.kind === "unauthorised")) throw error;
      this.#looking.log.warn(`checks are asked for one by one: ${messageOf(error)}`);
    }
  }

  /** What became of the checks of one, once all that count have ended. */
  async check(known: KnownPull, beat: Beat, thread: string): Promise<Checked> {
    if (beat.checks !== undefined && beat.checks !== "red") return ended(known, beat.checks, thread);
    const now = this.#looking.clock.now();
    if (beat.isForbidden && !isCheckDue(known, now)) return { known: {}, events: [] };
    const checked = await this.#look(known, await this.#checksOf(known, beat), thread);
    return { ...checked, known: { ...checked.known, checkedAt: now } };
  }

  async #checksOf(known: KnownPull, { isForbidden, checks }: Beat): Promise<readonly Check[]> {
    const { repository, log } = this.#looking;
    if (checks === undefined && !this.#isTold) {
      this.#isTold = true;
      log.warn("the token may not see checks: those of GitHub Actions and commit statuses count");
    }
    if (isForbidden) return actionsOf(repository, known.head);
    return this.#together.get(known.nodeId) ?? headChecks(repository, known);
  }

  #alsoRed(base: string): Promise<ReadonlySet<string>> {
    const asked = this.#redOn.get(base) ?? redOn(this.#looking.repository, base);
    this.#redOn.set(base, asked);
    return asked;
  }

  async #look(known: KnownPull, checks: readonly Check[], thread: string): Promise<Checked> {
    const { repository, rerun } = this.#looking;
    const state = stateOf(checks);
    const red = countingOf(checks).filter((check) => check.state === "red" && !known.told.includes(check.id));
    if (state !== "red" || red.length === 0) return ended(known, state, thread);
    const runs = [...new Set(red.flatMap(({ run }) => run ?? []))];
    if (rerun && runs.length > 0 && known.rerun !== known.head) {
      // A job that runs already is refused, which is as good.
      for (const run of runs) await repository.send("POST", `/actions/runs/${run}/rerun-failed-jobs`);
      return { known: { checks: "pending", rerun: known.head }, events: [] };
    }
    const alsoRed = await this.#alsoRed(known.base);
    const events: PullEvent[] = [];
    for (const check of red) {
      const report = await reportOf(repository, check);
      const on = alsoRed.has(checkName(check)) ? known.base : undefined;
      events.push(failedCheckEvent({ check, report, thread, sha: known.head, redOn: on }));
    }
    return { known: { checks: state, told: [...known.told, ...red.map(({ id }) => id)] }, events };
  }
}

function ended({ checks, head }: KnownPull, state: ChecksState, thread: string): Checked {
  const isNew = state === "green" && checks !== "green";
  return { known: { checks: state }, events: isNew ? [greenEvent(thread, head)] : [] };
}
