import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { CLI, NODE_FLAGS } from "../testing/program.ts";
import { THOROUGH } from "../testing/thorough.ts";

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Done as soon as the process is there, before the program in it has begun. */
  began?(child: ChildProcess): void;
  /** Done once, as soon as the program has printed the words. */
  readonly when?: { readonly says: string; act(child: ChildProcess): void };
}

/** An environment in which nothing of the person who runs the tests shows. */
function cleanEnvironment(home: string): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) =>
      value !== undefined &&
      !/^(GIT_|PRLOOM_|XDG_|EDITOR$|VISUAL$|NO_COLOR$|FORCE_COLOR$|NODE_TEST_CONTEXT$)/.test(name),
  );
  return {
    ...Object.fromEntries(kept as [string, string][]),
    HOME: home,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    ...(THOROUGH ? {} : { PRLOOM_WATCHDOG_MS: "0" }),
  };
}

function listen(child: ChildProcess, when: NonNullable<RunOptions["when"]>): void {
  let said = "";
  child.stdout?.on("data", (text: string) => {
    const before = said.includes(when.says);
    said += text;
    if (!before && said.includes(when.says)) when.act(child);
  });
}

/** Runs the real command line program. */
export function prloom(args: readonly string[], options: RunOptions): Promise<Ran> {
  const env = { ...cleanEnvironment(options.cwd), ...options.env };
  const child = spawn(process.execPath, [...NODE_FLAGS, CLI, ...args], { cwd: options.cwd, env });
  options.began?.(child);
  if (options.when) listen(child, options.when);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  // A command that fails early does not read what it is given.
  child.stdin.on("error", () => child.stdin.destroy());
  child.stdin.end(options.input ?? "");
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

export function git(cwd: string, ...args: string[]): string {
  const who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"];
  return execFileSync("git", [...who, ...args], {
    cwd,
    encoding: "utf8",
    env: cleanEnvironment(cwd),
    stdio: ["ignore", "pipe", "pipe"],
  });
}

export interface TestRepository {
  readonly root: string;
  run(args: readonly string[], options?: Omit<RunOptions, "cwd">): Promise<Ran>;
  close(): void;
}

export interface RepositoryOptions {
  readonly commits?: boolean;
  readonly config?: boolean;
}

/** A repository with one commit and a config whose agent ticks its TODO, unless told otherwise. */
export function testRepository(options: RepositoryOptions = {}): TestRepository {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "prloom-cli-")));
  const root = join(dir, "repo");
  mkdirSync(root);
  git(root, "init", "-q", "-b", "main");
  if (options.commits !== false) git(root, "commit", "-q", "--allow-empty", "-m", "base");
  if (options.config !== false) {
    const agent = join(dir, "agent.sh");
    writeFileSync(agent, AGENT);
    chmodSync(agent, 0o755);
    mkdirSync(join(root, "prloom"));
    writeFileSync(
      join(root, "prloom", "config.json"),
      // Without a sandbox: the tests talk to the agent through files that lie outside its worktree.
      JSON.stringify({ agents: { test: { command: agent, sandbox: "none" } }, stages: { default: "test" } }),
    );
  }
  return {
    root,
    run: (args, more = {}) => prloom(args, { cwd: root, ...more }),
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** The same for one test, after which its dispatcher is ended. */
export function repositoryFor(t: TestContext): TestRepository {
  const made = testRepository();
  t.after(async () => {
    await made.run(["stop"]);
    made.close();
  });
  return made;
}

const AGENT = `#!/bin/sh
cat > /dev/null
echo "working on $PRLOOM_TODO"
[ "$PRLOOM_STAGE" = worker ] || exit 0
case "$PRLOOM_TODO" in slow*) exec sleep 60;; never*) exit 0;;
  gated*) until [ -e "$PRLOOM_WORKTREE/../../../../go" ]; do sleep 0.05; done;; esac
echo "$PRLOOM_TODO" >> "$PRLOOM_WORKTREE/out.txt"
sed 's/- \\[ \\]/- [x]/' "$PRLOOM_PLAN_FILE" > "$PRLOOM_RUN_DIR/plan" && cat "$PRLOOM_RUN_DIR/plan" > "$PRLOOM_PLAN_FILE"
`;
