/** Files of tests in one process, for run-tests.ts. Each is a suite: what it does before and after its tests is done for no others. */
import { resolve } from "node:path";
import { after, describe } from "node:test";
import { pathToFileURL } from "node:url";
import { endKept } from "../test/testing/project.ts";

after(endKept);

for (const file of process.env.PRLOOM_TEST_FILES?.split("\n") ?? []) {
  describe(file, async () => {
    await import(pathToFileURL(resolve(file)).href);
  });
}
