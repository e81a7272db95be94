import { cpSync, mkdtempSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { probeSandbox } from "../../agents/sandbox/probe.ts";
import { commitIdentity, openRepository, type Repository } from "../../git/repository.ts";
import { git } from "../../git/run.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import { ensureDir } from "../../kernel/files.ts";

/** The name of the demo's one plan. */
export const DEMO_PLAN = "tally";

/** `examples/demo` lies two folders up from `src/cli/demo` and one up from `dist`, in the checkout and the package. */
function examplesDir(): string {
  const levels = import.meta.url.endsWith(".ts") ? "../../../" : "../";
  return fileURLToPath(new URL(`${levels}examples/demo`, import.meta.url));
}

/** Makes the demo's folder; one that is given must be new or empty, so that no file of the user is touched. */
function makeDir(dir: string | undefined): string {
  if (dir === undefined) return realpathSync(mkdtempSync(join(tmpdir(), "prloom-demo-")));
  const path = resolve(dir);
  const hint = "Name a folder that does not exist yet: prloom demo --dir <folder>";
  try {
    ensureDir(path);
    if (readdirSync(path).length === 0) return realpathSync(path);
  } catch (error) {
    throw new PrloomError("usage", `${path} cannot be made or read: ${messageOf(error)}`, hint);
  }
  throw new PrloomError("usage", `${path} is not empty.`, hint);
}

/** A command agent of the demo's own, and checks that run the project's tests after every TODO. */
export async function demoConfig(gate: boolean): Promise<Record<string, unknown>> {
  return {
    baseBranch: "main",
    checks: ["node --test test/*.test.js"],
    agents: { demo: { command: process.execPath, args: ["prloom/agent/agent.mjs"] } },
    stages: { default: "demo" },
    // Without a sandbox nothing keeps the agent from writing, and the gate says so.
    ...(gate ? { gates: { plan: true, advisory: !(await probeSandbox()).works } } : {}),
  };
}

/** Makes a repository of an empty folder: a small program, prloom's config, the demo agent, and one commit. */
export async function makeDemoProject(dir: string, config: Record<string, unknown>): Promise<Repository> {
  const examples = examplesDir();
  cpSync(join(examples, "project"), dir, { recursive: true });
  ensureDir(join(dir, "prloom", "agent"));
  for (const file of ["agent.mjs", "recipes.mjs"]) cpSync(join(examples, file), join(dir, "prloom", "agent", file));
  writeFileSync(join(dir, "prloom", "config.json"), `${JSON.stringify(config, null, 2)}\n`);
  writeFileSync(join(dir, ".gitignore"), "/prloom/.local/\n");
  await git(["init", "--quiet", "--initial-branch=main"], { cwd: dir });
  const repo = await openRepository(dir);
  await git(["add", "--all"], { cwd: dir });
  await git(["commit", "--quiet", "-m", "tally counts words"], { cwd: dir, env: await commitIdentity(repo) });
  return repo;
}

/** The same with a plan in its queue. */
export async function makeDemoRepository(wanted: string | undefined, gate: boolean): Promise<Repository> {
  const dir = makeDir(wanted);
  const repo = await makeDemoProject(dir, await demoConfig(gate));
  const inbox = join(dir, "prloom", ".local", "inbox");
  ensureDir(inbox);
  // The json first: a plan without text is unfinished and waits, text without json would be a draft.
  writeFileSync(join(inbox, `${DEMO_PLAN}.json`), `${JSON.stringify({ status: "queued" })}\n`);
  cpSync(join(examplesDir(), "plan.md"), join(inbox, `${DEMO_PLAN}.md`));
  return repo;
}
