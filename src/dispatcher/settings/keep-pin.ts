import { statSync } from "node:fs";
import { join } from "node:path";
import { type Pin, pinOf, writePin } from "../../config/pin.ts";
import { recordedModules, sealModules } from "../../hooks/modules/pinned-modules.ts";
import type { Located, Paths } from "../paths.ts";
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
  sealToPin(loom.paths, whole);
}

/**
 * For commands that load modules but do not start the dispatcher: a branch that leaves them as they are can still bring what they import, a
 * package beside them or another end of a link.
 */
export function sealToPin(paths: Paths, pin: Pin): void {
  const modules = pin.files.filter(({ kind }) => kind === "module");
  const hashes = modules.map((file) => [join(paths.root, file.path), file.sha256] as const);
  sealModules(startedAt(paths, pin), new Map(hashes));
}

/** When the pinned modules were loaded, by the clock of the file system: that is what tells the age of the others. */
export function startedAt({ pinFile }: Paths, { modulesAt }: Pin): number {
  return modulesAt ?? statSync(pinFile).ctimeMs;
}
