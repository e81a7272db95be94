import { fileURLToPath } from "node:url";

/**
 * The program that tests start: what `npm test` built just before, because a bundle starts in a fifth of the time. A test
 * that is run by itself starts the source, so that nothing needs to be built for it.
 */
export const CLI = process.env.PRLOOM_TEST_CLI ?? fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
