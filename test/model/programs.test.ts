import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { installProgram, type ProgramName } from "../testing/agents/programs.ts";
import { isolatedHome } from "../testing/agents/programs-home.ts";
import { type Model, startModel } from "../testing/model/model.ts";
import type { Script } from "../testing/model/script.ts";
import { finished } from "../testing/project.ts";
import { thorough } from "../testing/thorough.ts";

const PROMPT = "Please do all of the work.";

/** How each program is asked to work through a prompt and to end. */
const ARGUMENTS: Readonly<Record<ProgramName, readonly string[]>> = {
  opencode: ["run", "--auto", PROMPT],
  claude: ["-p", PROMPT, "--permission-mode", "acceptEdits", "--allowedTools", "Bash"],
  // Its own sandbox is not what is looked at here, and not every machine has what that needs.
  codex: ["exec", "--disable", "plugins", "--skip-git-repo-check", "-s", "danger-full-access", PROMPT],
  gemini: ["-p", PROMPT, "--yolo", "--skip-trust"],
};

const SCRIPT: Script = [
  {
    when: /all of the work/,
    steps: [
      { say: "I begin.", write: "made.txt", content: "one\ntwo\n" },
      { read: "made.txt" },
      { edit: "made.txt", from: "two", to: "three" },
      { do: [{ shell: "cat made.txt > copied.txt" }, { shell: 'echo "$GIVEN" > given.txt' }] },
      { say: "The whole work is done." },
    ],
  },
];

/** That the scripted model means to the real programs what it means to be. */
describe("a real program with the scripted model", { concurrency: 2 }, () => {
  const ends: (() => void | Promise<void>)[] = [];
  after(async () => {
    for (const end of ends) await end();
  });

  async function start(): Promise<{ model: Model; base: string }> {
    const model = await startModel(SCRIPT);
    const base = mkdtempSync(join(tmpdir(), "prloom-program-"));
    mkdirSync(join(base, "work"));
    ends.push(
      () => model.close(),
      () => rmSync(base, { recursive: true, force: true }),
    );
    return { model, base };
  }

  for (const name of Object.keys(ARGUMENTS) as ProgramName[]) {
    test(`${name} uses its own tools as the script says, step by step`, thorough, async (t) => {
      const program = await installProgram(name);
      if ("missing" in program) return t.skip(program.missing);
      const { model, base } = await start();
      const { env } = isolatedHome(name, model.url, join(base, "home"));
      const cwd = join(base, "work");
      const child = spawn(program.command, ARGUMENTS[name], {
        cwd,
        env: { ...env, GIVEN: "given to it" },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const { code, stdout, stderr } = await finished(child);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /The whole work is done\./);
      const text = (file: string): string => readFileSync(join(cwd, file), "utf8");
      assert.equal(text("made.txt").trimEnd(), "one\nthree");
      assert.equal(text("copied.txt").trimEnd(), "one\nthree");
      assert.equal(text("given.txt"), "given to it\n");
      const steps = model.asked().map(({ rule, step }) => [rule, step]);
      assert.deepEqual(
        steps,
        [0, 1, 2, 3, 4].map((step) => [0, step]),
        "nothing else took a step, and none was repeated",
      );
      assert.match(
        model
          .asked()
          .at(-1)
          ?.conversation.said.map(({ text }) => text)
          .join("\n") ?? "",
        /I begin\./,
      );
    });
  }
});
