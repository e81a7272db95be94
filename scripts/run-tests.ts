/**
 * Runs the tests, some dozens of files in a process, which loads the source once for all of them. Arguments are handed on to Node's runner.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { createInterface } from "node:readline";

const PARTS = 12;
const AT_ONCE = 3;
/** What these look at is of the whole process: what the tests before them did would count. */
const ALONE = ["test/agents/shim/", "test/bench/"];

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

// Neighbours load much of the same.
const all = globSync("test/**/*.test.ts").sort();
const isAlone = (file: string): boolean => ALONE.some((room) => file.startsWith(room));
const files = all.filter((file) => !isAlone(file));
const size = Math.ceil(files.length / PARTS);
const parts = Array.from({ length: PARTS }, (_, index) => files.slice(index * size, (index + 1) * size));
const waiting = [...parts, ...all.filter(isAlone).map((file) => [file])];
let failed = false;
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift())
      failed = !(await passes(part)) || failed;
  }),
);
const countOf = (...whats: string[]): number => whats.reduce((sum, what) => sum + (counts.get(what) ?? 0), 0);
if (failed) console.error("Some tests failed; they are told of at the end of their part, above.");
console.log(`${countOf("pass")} passed, ${countOf("fail", "cancelled")} failed, ${countOf("skipped")} skipped`);
process.exitCode = failed ? 1 : 0;
