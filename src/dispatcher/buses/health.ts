import { join } from "node:path";
import { type Clock, isoTime } from "../../kernel/clock.ts";
import { ensureDir, writeRunFile } from "../../kernel/files.ts";
import type { Paths } from "../paths.ts";

/** A bridge that is polled, for the repository or for one plan. */
export interface Polled {
  readonly bridge: string;
  readonly planId?: string;
}

/** A bridge whose polls fail, and since when. */
export interface FailingBridge extends Polled {
  readonly since: string;
  readonly error: string;
}

/** How the bridges are doing, for `prloom status`: a file that is written only when something about it changes. */
export interface BridgeHealth {
  /** A poll came back: with an error, or well. */
  polled(polled: Polled, error: string | undefined): void;
  /** The watchdog ended the last dispatcher because of this bridge's poll. */
  blocked(bridge: string): void;
  isBlocking(bridge: string): boolean;
}

export function healthFile(paths: Paths): string {
  return join(paths.bus, "state", "bridges.json");
}

/** Begins with nothing known, and says so: what an earlier dispatcher knew is no longer true. */
export function openHealth(paths: Paths, clock: Clock): BridgeHealth {
  const failing = new Map<string, FailingBridge>();
  const blocking = new Set<string>();
  const write = (): void => {
    ensureDir(join(paths.bus, "state"));
    writeRunFile(healthFile(paths), JSON.stringify({ schemaVersion: 1, failing: [...failing.values()] }));
  };
  return {
    polled(polled, error) {
      const key = JSON.stringify([polled.bridge, polled.planId]);
      const before = failing.get(key);
      if (before?.error === error) return;
      if (error === undefined) failing.delete(key);
      else failing.set(key, { ...polled, since: before?.since ?? isoTime(clock.now()), error });
      write();
    },
    blocked: (bridge) => void blocking.add(bridge),
    isBlocking: (bridge) => blocking.has(bridge),
  };
}
