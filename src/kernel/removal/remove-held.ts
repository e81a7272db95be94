import { closeSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import {
  type Below,
  type Held,
  ifThere,
  inside,
  MAX_DEPTH,
  namesIn,
  removeSingle,
  stepToChange,
  succeeds,
  withinParent,
} from "../held/folder.ts";
import { removeAside } from "./remove-aside.ts";

/** Files that are removed while all else waits; more than so many take longer than anything may stand still. */
const MAX_AT_ONCE = 2000;
/** A folder counts as so many: some disks take a millisecond for each. */
const FOLDER_COST = 10;

interface RemovalBudget {
  /** Entries that may still be removed. */
  left: number;
}

/** Removes what lies there as long as the budget lasts; returns whether it is gone. Links are removed, not followed. */
function removeSome(folder: Held, name: Buffer, budget: RemovalBudget, depth = 0): boolean {
  budget.left -= 1;
  if (budget.left < 0 || depth > MAX_DEPTH) return false;
  if (removeSingle(folder, name)) return true;
  budget.left -= FOLDER_COST - 1;
  if (budget.left < 0) return false;
  const child = ifThere(() => stepToChange(folder, name));
  if (child === undefined) return false;
  try {
    // One more than may be removed tells that there are too many.
    for (const entry of namesIn(child, budget.left + 1)) if (!removeSome(child, entry, budget, depth + 1)) return false;
  } finally {
    closeSync(child.fd);
  }
  return succeeds(() => rmdirSync(inside(folder, name)), ["ENOTEMPTY", "EEXIST", "ENOTDIR", "EACCES", "EPERM"]);
}

/** What takes long goes beside the root, out of the way, and is removed there while everything else goes on. */
export function clear(root: string, folder: Held, name: Buffer): void {
  if (removeSome(folder, name, { left: MAX_AT_ONCE })) return;
  // A folder that may not be written cannot be moved either.
  const child = ifThere(() => stepToChange(folder, name));
  if (child) closeSync(child.fd);
  ifThere(() => removeAside(inside(folder, name), dirname(root)));
}

/** Takes away what lies at `<root>/<below>`. */
export function removeFrom(root: string, below: Below): void {
  ifThere(() => withinParent(root, below, stepToChange, (folder, name) => clear(root, folder, name)));
}
