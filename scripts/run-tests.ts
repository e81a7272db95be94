/**
 * Runs the tests, some dozens of files in a process, which loads the source once for all of them. Arguments are handed on to Node's runner.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { createInterface } from "node:readline";

const PARTS = 4;
const AT_ONCE = 3;

const counts = new Map<string, number>();
const isSummary = /^ℹ (tests|pass|fail|cancelled|skipped) (\d+)$/;

/** Prints what is told of a file when all of it is there: several processes tell at the same time. */
function tell(child: ChildProcess): void {
  let told: string[] = [];
  const flush = (): void => {
    if (told.length > 0) console.log(told.join("\n"));
    told = [];
  };
  if (child.stdout === null) return;
  createInterface({ input: child.stdout })
    .on("line", (line) => {
      const [, what = "", count] = isSummary.exec(line) ?? [];
      if (count !== undefined) counts.set(what, (counts.get(what) ?? 0) + Number(count));
      told.push(line);
      if (/^[✔✖﹣] /.test(line)) flush();
    })
    .once("close", flush);
}

async function passes(files: readonly string[]): Promise<boolean> {
  const how = ["--test", "--test-isolation=none", "--test-timeout=1200000"];
  const child = spawn(process.execPath, [...how, ...process.argv.slice(2), "scripts/test-part.ts"], {
    env: { ...process.env, PRLOOM_TEST_FILES: files.join("\n") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  tell(child);
  const [code] = await once(child, "close");
  return code === 0;
}

const files = globSync("test/**/*.test.ts").sort();
// These drive the program from outside, and load little; some of them take a minute.
const isOutside = (file: string): boolean => /^test\/(?:e2e|examples)\//.test(file);
const [outside, inside] = [files.filter(isOutside), files.filter((file) => !isOutside(file))];
const size = Math.ceil(inside.length / PARTS);
const parts = Array.from({ length: PARTS }, (_, part) => part);
const waiting = [
  ...parts.map((part) => outside.filter((_, index) => index % PARTS === part)),
  // Neighbours load much of the same.
  ...parts.map((part) => inside.slice(part * size, (part + 1) * size)),
];
let failed = false;
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift())
      failed = !(await passes(part)) || failed;
  }),
);
console.log(`All in all: ${[...counts].map(([what, count]) => `${what} ${count}`).join(", ")}`);
if (failed) console.error("Some tests failed; they are told of at the end of their part, above.");
process.exitCode = failed ? 1 : 0;
