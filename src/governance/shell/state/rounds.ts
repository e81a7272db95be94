import type { EffectTree } from "../effects.ts";
import { type Flow, joinFlows, perhaps } from "../values/flow.ts";
import type { Names } from "../values/names.ts";
import { sameText, type Text } from "../values/text.ts";
import { joinShells } from "./joining.ts";
import { copyShell, SEVERAL, type Shell, type Spot, sizeOf, spend } from "./state.ts";

/** After so many rounds, what still changes counts as anything. */
const MAX_ROUNDS = 4;

/** A loop: each round begins with what the one before left, until that is nothing new. */
export function runRounds(spot: Spot, own: string, round: (spot: Spot) => Flow): Flow {
  let before = stateOf(spot);
  const flows = [round(spot)];
  for (let at = 1; at <= MAX_ROUNDS && !isSame(before, stateOf(spot), own); at += 1) {
    if (at === MAX_ROUNDS) forget(before.shell, spot.shell);
    before = stateOf(spot);
    const tree: EffectTree = { ...spot.tree, effects: [], inner: [] };
    flows.push(round({ ...spot, tree }));
    addNew(spot.tree.effects, tree.effects);
    addNew(spot.tree.inner, tree.inner);
  }
  return joinFlows(flows);
}

interface State {
  readonly shell: Shell;
  readonly files: Names<Flow>;
}

const stateOf = ({ shell, line }: Spot): State => ({ shell: copyShell(shell), files: line.files.copy() });

/** Apart from the variable of the loop, which is set in each round. */
function isSame(one: State, other: State, own: string): boolean {
  const [before, after] = [one.shell, other.shell];
  return (
    isSameSet(before.folders, after.folders) &&
    isSameSet(before.left, after.left) &&
    isSameList(before.positional, after.positional) &&
    before.isShifted === after.isShifted &&
    areSame(before.variables, after.variables, (some, others, name) => name === own || isSameList(some, others)) &&
    areSame(before.arrays, after.arrays, isSameList) &&
    areSame(before.functions, after.functions, (some, others) => some === others) &&
    areSame(before.channels, after.channels, (some, others) => some === others) &&
    areSame(one.files, other.files, isSameFlow)
  );
}

const isSameFlow = (one: Flow | undefined, other: Flow): boolean =>
  one?.text === other.text && one?.from === other.from && one?.either?.length === other.either?.length;

function areSame<V>(
  some: Names<V>,
  others: Names<V>,
  compare: (one: V | undefined, other: V, name: string) => boolean,
): boolean {
  if (some.isSame(others)) return true;
  for (const [name, value] of others) if (!compare(some.get(name), value, name)) return false;
  return true;
}

const isSameSet = <T>(some: readonly T[], others: readonly T[]): boolean =>
  some === others || others.every((one) => some.includes(one));

function isSameList(some: readonly Text[] | undefined, others: readonly Text[]): boolean {
  if (some === others) return true;
  return some?.length === others.length && some.every((text, at) => sameText(text, others[at] as Text));
}

function forget(before: Shell, shell: Shell): void {
  for (const [name, choices] of shell.variables)
    if (!isSameList(before.variables.get(name), choices)) shell.variables.set(name, [SEVERAL]);
  for (const [name, list] of shell.arrays)
    if (!isSameList(before.arrays.get(name), list)) shell.arrays.set(name, [SEVERAL]);
}

/** What the rounds before have not done. */
function addNew<T>(own: T[], more: readonly T[]): void {
  const seen = new Set(own.map((one) => JSON.stringify(one)));
  for (const one of more) if (!seen.has(JSON.stringify(one))) own.push(one);
}

/** What a loop or a function does, up to its end or to where it is left. */
export function toAnyEnd(spot: Spot, run: (spot: Spot) => Flow): Flow {
  const start = spot.left.length;
  const flow = run(spot);
  for (const shell of spot.left.slice(start)) joinShells(spot.shell, shell);
  return flow;
}

/** Leaves a loop or a function. Whether a condition decides that is not asked: what is behind it may be done, too. */
export function noteLeaving(spot: Spot): void {
  spend(spot, sizeOf(spot.shell));
  spot.line.leavings += 1;
  spot.left.push(copyShell(spot.shell));
}

/** Runs one after the other; behind where it may have been left, nothing is sure to be printed. */
export function flowsOfEach<T>(all: readonly T[], { line }: Spot, run: (one: T) => Flow): Flow[] {
  const { leavings } = line;
  return all.map((one) => {
    const isSure = line.leavings === leavings;
    const flow = run(one);
    return isSure ? flow : perhaps(flow);
  });
}
