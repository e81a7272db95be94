import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

const MODULE = new URL("../../../src/kernel/system/young-generation.ts", import.meta.url).href;

/** In MB, after so many objects have survived that V8 would have made it as large as it can be. */
const SCRIPT = `
  import { getHeapSpaceStatistics } from "node:v8";
  import { keepYoungGeneration } from ${JSON.stringify(MODULE)};
  const young = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size;
  const kept = [];
  const survive = () => kept.push(Array.from({ length: 100_000 }, (_, at) => ({ at, around: [at] })));
  while (young() < 4 * 1024 * 1024) survive();
  const before = young();
  keepYoungGeneration();
  for (let round = 0; round < 12; round += 1) survive();
  console.log(before, young(), kept.length);
`;

test("the space for new objects stays as it was, however many survive", () => {
  const said = execFileSync(process.execPath, ["--input-type=module", "-e", SCRIPT], { encoding: "utf8" });
  const [before = 0, after = 0] = said.split(" ").map(Number);
  assert.ok(before > 0 && after <= before, said);
});
