import { PrloomError } from "../kernel/errors.ts";
import type { LoadedBridge } from "./load.ts";

/** Which bridge delivers to which target, of both kinds. */
export interface Registry {
  byTarget(target: string): LoadedBridge | undefined;
  /** Sorted. */
  readonly targets: readonly string[];
  readonly all: readonly LoadedBridge[];
}

/** Where a bridge comes from, as its author or user would look for it. */
function placeOf({ name, kind }: LoadedBridge): string {
  if (kind === "builtin") return `the built-in bridge "${name}"`;
  return `the bridge "${name}" (${kind === "global" ? "globalBridges" : "bridges"}.${name})`;
}

/** Makes the registry; a target that two bridges claim is an error that names both. */
export function buildRegistry(bridges: readonly LoadedBridge[]): Registry {
  const owners = new Map<string, LoadedBridge>();
  for (const loaded of bridges) {
    for (const target of loaded.bridge.targets ?? []) {
      const owner = owners.get(target);
      if (owner) {
        throw new PrloomError(
          "target-clash",
          `The target "${target}" is claimed twice: by ${placeOf(owner)} and by ${placeOf(loaded)}.`,
          "Give one of them another target, or switch it off with `enabled: false` in prloom/config.json.",
        );
      }
      owners.set(target, loaded);
    }
  }
  return { byTarget: (target) => owners.get(target), targets: [...owners.keys()].sort(), all: [...bridges] };
}
