import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { appears, until } from "../../../testing/agents/agent-scripts.ts";
import { startDaemon } from "../../../testing/daemon.ts";
import { CLI } from "../../../testing/program.ts";
import { isAlive, makeProject } from "../../../testing/project.ts";
import { story } from "../../../testing/story.ts";
import { inTerminal, NO_TERMINAL, type Terminal } from "../../../testing/terminal.ts";
import { thorough } from "../../../testing/thorough.ts";

/**
 * Stands for a program with a conversation: `exec` works on the TODO, and does not end unless it goes on with one;
 * without that it is an interface for people that does what they type.
 */
const HAND = `#!/bin/sh
if [ "$1" = exec ]; then
  echo '{"type":"thread.started","thread_id":"th-1"}'
  echo '{"type":"turn.started"}'
  echo '{"type":"item.completed","item":{"id":"i0","type":"agent_message","text":"on it"}}'
  case "$*" in
  *"resume th-1"*)
    sed -i '0,/\\[ \\]/s//[x]/' "$PRLOOM_PLAN_FILE"
    echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}' ;;
  *) echo half > half.txt; exec sleep 600 ;;
  esac
else
  echo "interface of hand: $*."
  while read -r line; do
    [ "$line" = bye ] && exit 3
    eval "$line"
  done
fi
`;

const project = makeProject();
const hand = join(project.root, "tools", "hand");
mkdirSync(join(project.root, "tools"));
writeFileSync(hand, HAND);
chmodSync(hand, 0o755);
const { agents } = project.config() as { agents: object };
project.config({ agents: { ...agents, hand: { adapter: "codex", command: hand } }, stages: { default: "hand" } });
project.git("add", "-A");
project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "tools");
const worktree = project.worktree("p");
after(() => project.remove());

/** What a person's shell has; nothing of it but what agents may have gets through. */
const env = {
  PATH: process.env.PATH ?? "",
  HOME: project.home,
  XDG_RUNTIME_DIR: project.home,
  SHELL: "/bin/sh",
  TERM: "xterm",
  SECRET: "do not tell",
  PS1: "",
};

function prloom(line: string): Terminal {
  return inTerminal(`'${process.execPath}' '${CLI}' ${line}`, { cwd: project.root, env });
}

const step = story("a plan that a person opens");

step(
  "an agent at work is stopped only when asked, and goes on afterwards with what the person did",
  {
    skip: NO_TERMINAL,
  },
  async () => {
    project.plan("p", ["one"]);
    const daemon = await startDaemon(project);
    await daemon.said("p", /worker started/);
    await appears(join(worktree, "half.txt"));
    const refused = await prloom("open p").ended;
    assert.match(refused, /An agent is at work on p\./);
    assert.match(refused, /prloom pause p.+prloom open p --now/);

    const person = prloom("open p --now");
    await person.shows(/interface of hand: resume th-1\./);
    assert.equal(project.record("p").opened?.pid !== undefined, true);
    person.type('echo "secret=[$SECRET] run=[$PRLOOM_RUN_ID]"; cat half.txt > by-hand.txt');
    await person.shows(/secret=\[\] run=\[.+\/open\]/);
    await until(worktree, () => existsSync(join(worktree, "by-hand.txt")));
    const { plans } = await project.status();
    assert.match(
      plans.find(({ planId }) => planId === "p")?.waiting ?? "",
      /^a person has it open \(prloom open, pid \d+\)$/,
    );
    assert.match(await prloom("open p").ended, /A person has p open/);
    assert.match((await project.cli(["delete", "p", "--yes"])).stderr, /A person has p open \(prloom open, pid \d+\)/);
    const sent = await project.cli(["send", "p", "keep what I did"]);
    assert.equal(sent.stdout, "waits for the agent's next turn: a person has the plan open.\n");
    assert.equal(project.record("p").runs, 2, "the run that was stopped is to be made again, and has not been");
    assert.equal(existsSync(join(project.authority, "plans", "p", "runs", "2")), false);

    person.type("bye");
    const printed = await person.ended;
    assert.match(printed, /closed; the plan goes on\. What you changed in .+ stays and becomes a part of TODO 1: one/);
    await daemon.said("p", /in review|ready/i);
    assert.equal(project.record("p").opened, undefined);
    assert.equal(project.record("p").status, "review");
    assert.equal(project.git("show", "prloom/p:by-hand.txt"), "half\n");
    assert.match(project.runFile("p", 2, "prompt.md"), /> keep what I did/);
    assert.equal(existsSync(join(project.authority, "plans", "p", "runs", "open")), false);
    await daemon.end();
  },
);

step("a lease that was killed with its process holds nothing up", { skip: NO_TERMINAL, ...thorough }, async () => {
  const person = prloom("open p --shell");
  person.type("echo shell in $PWD");
  await person.shows(/shell in \/.+worktrees\/p/);
  const kept = project.record("p").opened?.pid ?? 0;
  // Without a dispatcher the command kept nothing but the lease: another can start, and leaves the plan alone.
  const worked = await project.work();
  assert.equal(worked.code, 0, worked.stderr);
  assert.equal(project.record("p").opened?.pid, kept);
  process.kill(kept, "SIGKILL");
  await person.ended;
  const again = await project.work();
  assert.match(again.stdout, /ended without closing it; going on/);
  assert.equal(project.record("p").opened, undefined);
  assert.equal(isAlive(kept), false);
  assert.deepEqual(project.processes(), []);
});

step("without a terminal the command is printed, and works", async () => {
  const told = JSON.parse((await project.cli(["open", "p", "--json"])).stdout);
  assert.equal(told.agent, "hand");
  assert.equal(told.sessionId, "th-1");
  assert.deepEqual(told.command.slice(-3), [hand, "resume", "th-1"]);
  const plain = await project.cli(["open", "p", "--shell"], { SECRET: "do not tell", SHELL: "/bin/sh" });
  assert.match(plain.stderr, /prloom pause p/);
  assert.doesNotMatch(plain.stdout, /do not tell/);
  const input = 'echo "$PWD [$SECRET] [$PRLOOM_RUN_ID]"\n';
  const output = execFileSync("sh", ["-c", plain.stdout], { input, encoding: "utf8", env });
  assert.equal(output, `${worktree} [] [${project.record("p").uid}/open]\n`);
  assert.equal(project.record("p").opened, undefined);
});

step("what cannot be opened says why, and what to type", thorough, async () => {
  project.plan("later", ["one"], { status: "draft" });
  const { code, stderr } = await project.cli(["open", "p", "--agent", "test"]);
  assert.equal(code, 2);
  assert.match(stderr, /The agent test \(.+\) has no interface that people can use\./);
  assert.match(stderr, /prloom open p --shell/);
  const cases: [string[], RegExp][] = [
    [["open", "later"], /later has no worktree yet/],
    [["open", "nobody"], /There is no plan "nobody"/],
    [["open", "p", "--agent", "hnad"], /There is no agent "hnad" in prloom\/config\.json, did you mean hand\?/],
  ];
  for (const [args, message] of cases) assert.match((await project.cli(args)).stderr, message);
  const inside = await project.cli(["open", "p"], { PRLOOM_RUN_ID: "u/1" });
  assert.match(inside.stderr, /agents cannot change plans/);
  assert.equal(JSON.parse(readFileSync(join(project.authority, "plans", "p", "state.json"), "utf8")).opened, undefined);
});
