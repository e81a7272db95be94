import { fileURLToPath } from "node:url";
import { THOROUGH } from "./thorough.ts";

/**
 * The program that tests start: what `npm test` built just before, because a bundle starts in a fifth of the time. A test
 * that is run by itself starts the source, so that nothing needs to be built for it.
 */
export const CLI = process.env.PRLOOM_TEST_CLI ?? fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

/** For processes with a temporary folder of their own: without it, each of them would compile all of its program again. */
export const COMPILED: Record<string, string> =
  process.env.NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };

/**
 * What Node is told that runs it. A process that lives for a second collects its small young generation again and again,
 * which is a tenth of what it costs; the whole run has it as users do.
 */
export const NODE_FLAGS: readonly string[] = THOROUGH ? [] : ["--min-semi-space-size=16"];
