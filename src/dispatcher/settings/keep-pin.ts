import { statSync } from "node:fs";
import { pinOf, writePin } from "../../config/pin.ts";
import { recordedModules, sealModules } from "../../hooks/modules/pinned-modules.ts";
import type { Located } from "../paths.ts";
import type { Configured } from "./pinned.ts";

/**
 * Keeps what a person has started the dispatcher with, its modules included, before anything is done with it. From here
 * on nothing that is loaded later may be newer than this.
 */
export function keepPin(loom: Located & Configured): void {
  const { pin, config } = loom.pinned;
  if (!pin) return;
  const whole = pinOf([...pin.files, ...recordedModules(loom.paths.root)], pin);
  writePin(loom.paths.pinFile, whole);
  loom.pinned.take(whole, config);
  // By the clock of the file system: that is what tells the age of the others.
  sealModules(statSync(loom.paths.pinFile).ctimeMs);
}
