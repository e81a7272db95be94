import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { demoConfig, makeDemoProject } from "../../src/cli/demo/demo-repository.ts";
import { visible } from "../../src/cli/render/safe-text.ts";
import type { Progress } from "../../src/dispatcher/capabilities.ts";
import { type FakeGitHub, startFakeGitHub } from "../../test/testing/github/fake-github.ts";
import { git } from "../../test/testing/github/git.ts";
import type { Repository } from "../../test/testing/github/world.ts";
import { planFiles } from "../../test/testing/github-story/plan-files.ts";
import { playStory, type StoryPlace, type StoryWords } from "../../test/testing/github-story/story.ts";
import { CLI } from "../../test/testing/program.ts";
import { issueText, newWords, pullText } from "./transcript.ts";

const WORDS: StoryWords = {
  title: "tally should tell more about a file",
  body: `It counts words and nothing else.

- [ ] Count lines and characters too
- [ ] Let \`--lines\`, \`--words\` and \`--characters\` choose what is counted
`,
  remarks: [
    {
      path: "src/program.js",
      line: 18,
      body: "Which words are they? Please show the most frequent words with `--top <n>`.",
    },
    { path: "src/program.js", line: 7, body: "While you are here: please add a --version flag." },
  ],
  check: { name: "flags in the README", log: "error: README.md does not describe the flags\n" },
};

const USAGE = "Usage: npm run demo -- --github [--keep]\n  --keep   leave the repository where it is\n";

const bold = (text: string): string => (process.stdout.isTTY ? `\u001b[1m${text}\u001b[22m` : text);
const dim = (text: string): string => (process.stdout.isTTY ? `\u001b[2m${text}\u001b[22m` : text);
const line = (text = ""): void => void process.stdout.write(`${text}\n`);

/** The story from an issue to a merged pull request, told while it happens. Returns the exit code. */
export async function runGitHubDemo(args: readonly string[]): Promise<number> {
  const unknown = args.filter((arg) => arg !== "--keep");
  if (unknown.length > 0) {
    process.stderr.write(USAGE);
    return unknown.every((arg) => arg === "--help" || arg === "-h") ? 0 : 2;
  }
  const isKept = args.includes("--keep");
  const github = await startFakeGitHub();
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "prloom-github-demo-")));
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  try {
    await tellStory(github, dir, stop.signal);
    line(isKept ? `\nThe clone is kept: ${dir}. Its GitHub is gone with this demo.` : "");
    return 0;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    return 130;
  } finally {
    await github.close();
    if (!isKept) rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function tellStory(github: FakeGitHub, dir: string, signal: AbortSignal): Promise<void> {
  const repository = github.repository("acme/tally", { ada: "write", bob: "write", prloom: "write" });
  const token = github.server.accounts.add("prloom");
  await makeDemoProject(dir, {
    ...(await demoConfig(true)),
    ...{ forge: "github", github: { repo: "acme/tally", apiUrl: github.apiUrl } },
    triggers: [{ on: "issue.labeled", label: "prloom", do: "queue" }],
    bus: { gatherReviews: "1s" },
  });
  git(dir, ["push", "--quiet", "--force", repository.folder, "main"]);
  line(bold("acme/tally on a GitHub of this machine, and a clone of it in which prloom works"));
  line(`ada and bob may write there, eve may not. The clone: ${dir}`);
  const place = placeOf({ github, repository, dir, token, signal });
  const { issue, pull } = await playStory(place, WORDS);
  line(`\n${bold("What is on GitHub now")}\n`);
  for (const text of [issueText(repository, issue), pullText(repository, pull)]) line(text);
  line("Merged; the plan is done, its worktree is gone, and so is its branch on GitHub.");
}

interface Stage {
  readonly github: FakeGitHub;
  readonly repository: Repository;
  readonly dir: string;
  readonly token: string;
  readonly signal: AbortSignal;
}

function placeOf({ github, repository, dir, token, signal }: Stage): StoryPlace {
  const words = newWords(repository, "prloom");
  let isNew = true;
  return {
    ...{ github, repository, plans: planFiles(dir) },
    tell(who, what) {
      if (isNew) line();
      isNew = false;
      line(`${bold(who.padEnd(7))}${visible(what)}`);
    },
    async work() {
      isNew = true;
      const env = { ...process.env, GITHUB_TOKEN: token };
      const child = spawn(process.execPath, [CLI, "start", "--until-idle", "--json"], {
        ...{ cwd: dir, env, stdio: ["ignore", "pipe", "inherit"] },
      });
      await followed(child, signal);
      for (const { where, text } of words()) {
        line(`${bold("prloom ")}writes ${where}:`);
        for (const each of text.split("\n")) line(`       > ${visible(each)}`);
      }
    },
  };
}

/** Tells what a dispatcher does until it ends. */
async function followed(child: ChildProcess, signal: AbortSignal): Promise<void> {
  const end = (): void => void child.kill("SIGTERM");
  signal.addEventListener("abort", end);
  if (child.stdout)
    createInterface({ input: child.stdout }).on("line", (text) => {
      const { text: said } = JSON.parse(text) as Partial<Progress>;
      if (said !== undefined) line(dim(`       │ ${visible(said.split("\n")[0] ?? "")}`));
    });
  const [code] = await once(child, "close");
  signal.removeEventListener("abort", end);
  signal.throwIfAborted();
  if (code !== 0) throw new Error(`prloom ended with ${code}`);
}
