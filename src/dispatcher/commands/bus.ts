import { pollBridge } from "../../bridges/polls/poll.ts";
import type { BridgeScope } from "../../bridges/services.ts";
import type { Bus } from "../../bus/bus.ts";
import { parseHandler } from "../../bus/names.ts";
import { scopeOf } from "../../bus/types.ts";
import { currentBranch } from "../../git/repository.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Bridging, PollReport } from "../buses/bridging.ts";
import type { Buses } from "../buses/buses.ts";
import { type Extended, loadExtensions } from "../buses/extensions.ts";
import { giveBackAbsent } from "../buses/polling.ts";
import type { Waking } from "../capabilities.ts";
import { hasBus, type Located } from "../paths.ts";
import type { Records } from "../records.ts";
import { type FoundLetter, foundLetter } from "../report/read-bus.ts";
import { sealToPin } from "../settings/keep-pin.ts";
import type { Configured } from "../settings/pinned.ts";
import { requireModulesPinned } from "../settings/pinning.ts";
import { mayRunForeign, NEVER_STARTED } from "../settings/start-notes.ts";

interface LetterBus {
  readonly planId?: string;
  readonly bus: Bus;
}

/** The buses that may have dead letters, the repository's own first. Thousands that are at rest stay closed. */
function busesWithLetters(loom: Located & Records & Buses): LetterBus[] {
  const { records } = loom.store.list();
  const plans = records.filter(({ id }) => hasBus(loom, id) && loom.restingLetters({ planId: id })?.length !== 0);
  return [{ bus: loom.globalBus() }, ...plans.map(({ id }) => ({ planId: id, bus: loom.bus(id) }))];
}

interface WantedLetters {
  readonly id?: string | undefined;
  readonly all: boolean;
}

/** Lets dead letters be tried again: those of one record, or all. */
export function retryDead(
  loom: Located & Configured & Records & Buses & Bridging & Waking,
  wanted: WantedLetters,
): { retried: FoundLetter[]; stay: FoundLetter[] } {
  const stay: FoundLetter[] = [];
  const taken = takeLetters(loom, wanted, ({ bus, planId }, records) => {
    for (const record of records) bus.revive(record);
    giveBackAbsent(loom, bus);
    for (const letter of bus.deadLetters())
      if (records.has(letter.record) && !letter.revived) stay.push(foundLetter(letter, planId));
  });
  const left = new Set(stay.map(({ record }) => record));
  const retried = taken.filter(({ record }) => !left.has(record));
  const bridges = retried.flatMap(({ handler }) => {
    const parsed = parseHandler(handler);
    return parsed?.kind === "poll" ? [parsed.bridge] : [];
  });
  // What a poll brought is judged again by the next one; without a dispatcher that is the first of the next start.
  for (const bridge of new Set(bridges)) {
    // A bridge without events() is not asked, and its letters stay.
    loom.poll(bridge)?.catch(() => undefined);
  }
  return { retried, stay };
}

/** Gives dead letters up for good: no handler is called with them again, and no list has them. */
export function dropDead(loom: Located & Records & Buses & Waking, wanted: WantedLetters): { dropped: FoundLetter[] } {
  const dropped = takeLetters(loom, wanted, ({ bus }, records) => {
    for (const record of records) bus.drop(record);
  });
  return { dropped };
}

type TakeLetters = (from: LetterBus, records: ReadonlySet<string>) => void;

function takeLetters(
  loom: Located & Records & Buses & Waking,
  { id, all }: WantedLetters,
  take: TakeLetters,
): FoundLetter[] {
  if ((id === undefined) === !all) {
    throw new PrloomError("usage", "Say which dead letter, or --all.", "`prloom status` lists them: prloom retry <id>");
  }
  const found: FoundLetter[] = [];
  for (const from of busesWithLetters(loom)) {
    const { planId, bus } = from;
    const letters = bus.deadLetters().filter((letter) => all || letter.record === id);
    take(from, new Set(letters.map((letter) => letter.record)));
    found.push(...letters.map((letter) => foundLetter(letter, planId)));
    if (letters.length > 0) loom.wakeBus(planId);
  }
  if (found.length === 0 && id !== undefined) {
    throw new PrloomError(
      "letter-not-found",
      `There is no dead letter "${id}".`,
      "`prloom status` lists those there are.",
    );
  }
  return found;
}

/** Polls the bridges now. Without a dispatcher what they bring is kept, and hooks see it at the next start. */
export async function pollNow(
  loom: Located & Configured & Records & Buses & Extended & Bridging,
  bridge: string | undefined,
): Promise<{ polls: PollReport[] }> {
  const polled = loom.poll(bridge);
  if (polled) return { polls: await polled };
  await requireAsStarted(loom);
  loom.extensions.take(await loadExtensions(loom.repo.root, loom.config, []));
  const { globalBridges } = loom.extensions;
  const open = loom.store.list({ status: ["active", "review"] }).records;
  const calls = [
    ...globalBridges.map((loaded) => ({ loaded, scope: { bus: loom.globalBus() } as BridgeScope })),
    ...open
      .filter((record) => record.worktreeReady && !record.deleted)
      .flatMap((record) =>
        loom.extensions
          .bridgesOf(record)
          .map((loaded) => ({ loaded, scope: { bus: loom.bus(record.id), planId: record.id } })),
      ),
  ].filter(({ loaded }) => loaded.bridge.events && (bridge === undefined || loaded.name === bridge));
  refuseUnknown(loom, bridge);
  const polls = await Promise.all(
    calls.map(async ({ loaded, scope }): Promise<PollReport> => {
      const outcome = await pollBridge(loom.bridgeServices, scope, loaded);
      return { bridge: loaded.name, ...scopeOf(scope.planId), ...outcome };
    }),
  );
  return { polls };
}

/** To poll on another person's branch must not run what that brings. */
export async function requireAsStarted({
  pinned: { pin },
  config,
  environment,
  paths,
  repo,
}: Located & Configured): Promise<void> {
  requireModulesPinned(pin, paths.root);
  if (!pin && (await mayRunForeign(repo, config, environment.PATH)))
    throw new PrloomError("pin-changed", `${NEVER_STARTED}.`, "`prloom start` applies what is checked out.");
  // Without a branch nothing tells that it is still the person's.
  if (pin && (pin.branch === undefined || pin.branch !== (await currentBranch(repo)))) sealToPin(paths, pin);
}

/** A name that no bridge has is a mistake, whether or not a plan is open that it would be polled for. */
export function refuseUnknown(loom: Extended, bridge: string | undefined): void {
  if (bridge === undefined) return;
  const names = loom.extensions.registry.all.filter((one) => one.bridge.events).map(({ name }) => name);
  if (names.includes(bridge)) return;
  const known = names.length === 0 ? "No bridge is configured that can be polled." : `There are: ${names.join(", ")}.`;
  throw new PrloomError("usage", `There is no bridge "${bridge}" to poll.`, known);
}
