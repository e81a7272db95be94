import type { BridgeContext } from "../../bridges/contract.ts";
import type { Clock } from "../../kernel/clock.ts";
import { messageOf } from "../../kernel/errors.ts";
import { CallError, OVERLAP_MS } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import { actionsOf, redOn, runsEnded } from "./actions.ts";
import { failedCheckEvent, greenEvent, reportOf } from "./check-report.ts";
import { type Check, checkName, countingOf, stateOf } from "./check-state.ts";
import { checksTogether, headChecks } from "./checks.ts";
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
  /** Only for a token that may not see checks. */
  #runsEnded: ReadonlyMap<string, number> | undefined;
  readonly #redOn = new Map<string, Promise<ReadonlySet<string>>>();
  #isTold = false;

  constructor(looking: LookingAtChecks) {
    this.#looking = looking;
  }

  /** Asks for those of which the summary does not tell enough. What cannot be asked for together is asked for one by one. */
  async prepare(heads: readonly { readonly known: KnownPull; readonly beat: Beat }[]): Promise<void> {
    const { repository, log } = this.#looking;
    const some = heads.filter(({ known, beat }) => beat.head === known.head);
    const red = some.filter(({ beat }) => beat.checks === "red");
    try {
      const ids = red.map(({ known }) => known.nodeId);
      const found = ids.length === 0 ? new Map() : await checksTogether(repository, ids);
      if (found !== "unseen") this.#together = found;
      if (found !== "unseen" && !some.some(({ beat }) => beat.isForbidden)) return;
      this.#runsEnded = new Map();
      this.#runsEnded = await runsEnded(repository);
    } catch (error) {
      if (error instanceof CallError && (error.kind === "limited" || error.kind === "unauthorised")) throw error;
      log.warn(`checks are asked for one by one: ${messageOf(error)}`);
    }
  }

  /** What became of the checks of one, once all that count have ended. */
  async check(known: KnownPull, beat: Beat, thread: string): Promise<Checked> {
    if (beat.checks !== undefined && beat.checks !== "red") {
      const { events, known: now } = ended(known, beat.checks, thread);
      // What fails after this is news, however short ago it was looked at.
      return { events, known: { ...now, checkedAt: undefined } };
    }
    if (this.#runsEnded && !this.#isDue(known, beat)) return { known: {}, events: [] };
    const checked = await this.#look(known, await this.#checksOf(known, beat), thread);
    return { ...checked, known: { ...checked.known, checkedAt: this.#looking.clock.now() } };
  }

  /**
   * Each takes several requests of a token that may not see checks. Which of the newest runs ended since is told by one; others are
   * looked at less and less often, or not again where the summary says that they are red as before.
   */
  #isDue(known: KnownPull, { head, checks }: Beat): boolean {
    const { clock, repository } = this.#looking;
    const { checkedAt, checks: before } = known;
    if (checkedAt === undefined) return true;
    const now = clock.now();
    const ahead = repository.client.timeThere() - now;
    if ((this.#runsEnded?.get(head) ?? 0) > checkedAt + ahead - OVERLAP_MS) return true;
    return !(checks === "red" && before === "red") && isCheckDue(known, now);
  }

  async #checksOf(known: KnownPull, { checks }: Beat): Promise<readonly Check[]> {
    const { repository, log } = this.#looking;
    if (!this.#runsEnded) return this.#together.get(known.nodeId) ?? headChecks(repository, known);
    if (!this.#isTold) {
      this.#isTold = true;
      log.warn("the token may not see checks: those of GitHub Actions and commit statuses count");
    }
    return actionsOf(repository, known.head, checks);
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
