/**
 * Runs the tests. Those of rooms that need nothing but their own folders share a process, which loads the source once;
 * then each other file has one of its own. Arguments are handed on to Node's runner.
 */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";

const TOGETHER = [
  ...["bridges", "bus", "config", "forge", "gate", "github", "governance", "hooks", "hosts", "model", "plan"],
  ...["acp", "claude", "codex", "dialogue", "opencode", "results"].map((room) => `agents/${room}`),
  ...[
    "acceptance",
    "at-github",
    "gates",
    "governing",
    "intake",
    "messages",
    "publishing",
    "settings",
    "stacking",
    "steps",
  ].map((room) => `dispatcher/${room}`),
  "cli/render",
];

function passes(files: readonly string[], ...how: string[]): boolean {
  const args = ["--test", "--test-timeout=1200000", ...how, ...process.argv.slice(2), ...files];
  return spawnSync(process.execPath, args, { stdio: "inherit" }).status === 0;
}

const files = globSync("test/**/*.test.ts").sort();
const shares = (file: string): boolean => TOGETHER.some((room) => file.startsWith(`test/${room}/`));
const together = passes(files.filter(shares), "--test-isolation=none");
const alone = passes(
  files.filter((file) => !shares(file)),
  "--test-concurrency=3",
);
if (!together) console.error("Some tests failed; they are told of above the others.");
process.exitCode = together && alone ? 0 : 1;
