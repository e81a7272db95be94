import { join } from "node:path";
import type { RunRequest } from "../../../src/agents/port.ts";

/** Makes requests for runs of a line for the shell, each with a folder of its own below `root`. */
export function runRequests(root: string, name: string): (shell: string, more?: Partial<RunRequest>) => RunRequest {
  let count = 0;
  return (shell, more = {}) => {
    count += 1;
    const runDir = join(root, `run-${count}`);
    return {
      runDir,
      runId: `${name}-${process.pid}/${count}`,
      cwd: root,
      invocation: { shell },
      stdin: "prompt",
      env: { PATH: process.env.PATH ?? "", PRLOOM_RUN_DIR: join(runDir, "agent") },
      limits: { deadlineMs: 120_000, silenceMs: 120_000, maxOutputBytes: 10_000, graceMs: 200 },
      ...more,
    };
  };
}
