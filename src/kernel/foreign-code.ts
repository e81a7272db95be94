import { PrloomError } from "./errors.ts";

let isLoaded = false;

/** Code of a plugin or bridge is about to run in this process. */
export function noteForeignCode(): void {
  isLoaded = true;
}

/** What fails outside of any call (a promise not waited for, a thread, a timer) is theirs, once there are any. */
export function hasForeignCode(): boolean {
  return isLoaded;
}

/** An error that no call of ours caught, as what to tell about it: a plugin's fault is not a bug in prloom. */
export function strayError(error: unknown): unknown {
  if (!isLoaded || error instanceof PrloomError) return error;
  const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const hint = 'Fix the plugin or bridge that is named, or set `"enabled": false` for it in prloom/config.json.';
  return new PrloomError("plugin-failed", `A plugin or bridge failed outside of its call: ${told}`, hint, error);
}
