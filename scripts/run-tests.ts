/**
 * Runs the tests. Those of rooms that need nothing but their own folders share a process, which loads the source once;
 * then each other file has one of its own. Arguments are handed on to Node's runner.
 */
import { spawnSync } from "node:child_process";

const TOGETHER = ["bridges", "bus", "config", "forge", "governance", "hooks", "plan"];

function passes(files: readonly string[], ...how: string[]): boolean {
  const args = ["--test", "--test-timeout=1200000", ...how, ...process.argv.slice(2), ...files];
  return spawnSync(process.execPath, args, { stdio: "inherit" }).status === 0;
}

const together = passes([`test/{${TOGETHER.join()}}/**/*.test.ts`], "--test-isolation=none");
const others = [`test/!(${TOGETHER.join("|")})/**/*.test.ts`, "test/*.test.ts"];
const alone = passes(others, "--test-concurrency=3");
if (!together) console.error("Some tests failed; they are told of above the others.");
process.exitCode = together && alone ? 0 : 1;
