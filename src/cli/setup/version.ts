import { readFileSync } from "node:fs";

/** Put in by the build; from a checkout there is no such name. */
declare const PRLOOM_VERSION: string | undefined;

export function version(): string {
  if (typeof PRLOOM_VERSION === "string") return PRLOOM_VERSION;
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
