import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { CONFIG_FILE, loadConfig } from "../config/load.ts";
import { messageOf } from "../kernel/errors.ts";
import { statKey } from "./stat-key.ts";

/** The config in force: as it was at the start, or as it was mended since. */
export interface LiveConfig {
  now(): Config;
  /** Reads the file again if it changed; returns what to tell about it. A file that is wrong changes nothing. */
  reload(): { level: "info" | "bad"; text: string } | undefined;
}

export function liveConfig(root: string, initial: Config): LiveConfig {
  const file = join(root, CONFIG_FILE);
  let config = initial;
  let key = statKey(file);
  return {
    now: () => config,
    reload() {
      const current = statKey(file);
      if (current === key) return undefined;
      key = current;
      try {
        config = loadConfig(root);
        return { level: "info", text: `${CONFIG_FILE} changed and was read again` };
      } catch (error) {
        return { level: "bad", text: `${CONFIG_FILE} changed and is not used: ${messageOf(error)}` };
      }
    },
  };
}
