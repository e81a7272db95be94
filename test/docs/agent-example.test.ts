import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { parseTriageResult } from "../../src/agents/results/triage-result.ts";
import { busEventSchema } from "../../src/bus/types.ts";
import { makeProject } from "../testing/project.ts";
import { story } from "../testing/story.ts";
import { thorough } from "../testing/thorough.ts";

const page = readFileSync(new URL("../../docs/agents.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/```(\w*)\n([\s\S]*?)```/g)].map(([, language, body = ""]) => ({ language, body }));

function blockWith(language: string, words: string): string {
  const found = blocks.find((block) => block.language === language && block.body.includes(words));
  assert.ok(found, `docs/agents.md has no ${language} block with ${words}`);
  return found.body;
}

const project = makeProject();
after(() => project.remove());

/** Runs one line of the page as it stands. */
async function type(line: string): Promise<string> {
  const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  const [program, ...args] = words;
  assert.equal(program, "prloom");
  const { code, stdout, stderr } = await project.cli(args);
  assert.equal(code, 0, `${line}\n${stdout}${stderr}`);
  return stdout;
}

const step = story("the agent of the page, from its first plan on");

step("the agent of docs/agents.md works, with the config and the commands that stand beside it", async () => {
  // The page's own agent, and before it a line that keeps what it is given, for a test below.
  const keeps = [
    'import * as keep from "node:fs";',
    'keep.writeFileSync(process.env.PRLOOM_RUN_DIR + "/environment.json", JSON.stringify(process.env));',
  ].join("\n");
  writeFileSync(join(project.root, "prloom", "agent.mjs"), `${keeps}\n${blockWith("js", "PRLOOM_STAGE")}`);
  writeFileSync(join(project.root, "prloom", "config.json"), blockWith("json", '"stages"'));
  project.git("add", "prloom");
  project.git("-c", "user.name=Ada", "-c", "user.email=ada@localhost", "commit", "-qm", "Set up prloom");
  const commands = blockWith("", "prloom start")
    .split("\n")
    .filter((line) => line.startsWith("prloom "));
  let shown = "";
  for (const line of commands) shown = await type(line);
  const added = "say something about the weather";
  assert.deepEqual(project.commits("try-the-agent"), ["Say hello", "Say goodbye", added]);
  assert.equal(project.git("show", "prloom/try-the-agent:NOTES.md"), `- Say hello\n- Say goodbye\n- ${added}\n`);
  assert.match(shown, /Will do\./);
});

step("it designs, says what it cannot do, and asks for a rebase", async () => {
  project.planFile("wishes", "# Wishes\n\n- Be quick\n- Be kind\n");
  project.plan("question", ["Shall we?"]);
  await project.work();
  assert.deepEqual(project.commits("wishes"), ["Be quick", "Be kind"]);
  assert.match(project.record("question").blocked?.reason ?? "", /This is a question\. What is to be done\?/);
  project.git("-c", "user.name=Ada", "-c", "user.email=ada@localhost", "commit", "-q", "--allow-empty", "-m", "Go on");
  await project.cli(["comment", "wishes", "A rebase would be nice"]);
  await project.work();
  assert.equal(project.record("wishes").baseSha, project.git("rev-parse", "main").trim());
});

step("README shows the status of such plans as it is", thorough, async () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const [, login = ""] = /```markdown\n([\s\S]*?)```/.exec(readme) ?? [];
  project.planFile("log-in-with-a-password", login);
  project.plan("add-a-dark-mode", ["Add the colours", "Shall the switch be in the header?"]);
  project.plan("write-the-help-pages", [], {});
  const metadata = { dependsOn: ["write-the-help-pages"] };
  project.plan("translate-the-help-pages", ["Into French"], { status: "queued", metadata });
  await project.work();
  const plain = (text: string) =>
    text
      .replace(/ [█░]+/g, "")
      .replace(/ \d+s /g, " ")
      .replace(/ +/g, " ");
  const { stdout } = await project.cli(["status"]);
  const shown = /^PLAN +STATUS[\s\S]*?(?=\n```)/m.exec(readme)?.[0] ?? assert.fail("README shows no status");
  for (const line of plain(shown).split("\n")) {
    const words = line.replace(/…$/, "");
    assert.ok(plain(stdout).includes(words), `not told: ${words}\n${stdout}`);
  }
});

step("the page names the variables of each stage, and no others", () => {
  const rows = [...page.matchAll(/^\| `(PRLOOM_[A-Z_]+)` \| ([\w, ]+) \|/gm)];
  // Only an agent with a model has this one, and that of the page has none.
  const named = rows.filter(([, name]) => name !== "PRLOOM_MODEL");
  for (const [plan, run, stage] of [
    ["try-the-agent", 1, "worker"],
    ["try-the-agent", 3, "triage"],
    ["wishes", 1, "designer"],
  ] as const) {
    const env: Record<string, string> = JSON.parse(project.runFile(plan, run, join("agent", "environment.json")));
    const given = Object.keys(env).filter((name) => name.startsWith("PRLOOM_"));
    const told = named
      .filter(([, , stages]) => stages === "all" || stages?.split(", ").includes(stage))
      .map(([, name = ""]) => name);
    assert.equal(env.PRLOOM_STAGE, stage);
    assert.deepEqual(given.sort(), told.sort());
  }
});

step("the events and the result that the page shows are of the right shape", () => {
  const events = JSON.parse(blockWith("json", '"replyTo"')).map((event: unknown) => busEventSchema.parse(event).id);
  assert.ok(parseTriageResult(blockWith("json", "reply_markdown"), [...events, "another"]).ok);
});
