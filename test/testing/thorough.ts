/** Whether this is the whole run of the tests (`npm run test:full`). CONTRIBUTING.md says what is left to it. */
export const THOROUGH = process.env.PRLOOM_FULL === "1" || Number(process.env.PRLOOM_CHAOS_KILLS ?? 0) >= 100;

/** Options of a test that only the whole run makes. */
export const thorough = THOROUGH ? {} : { skip: "only in the whole run: npm run test:full" };
