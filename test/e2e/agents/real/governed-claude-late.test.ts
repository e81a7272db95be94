import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Bench, makeWorkshop } from "../../../testing/agents/real-agent-bench.ts";
import { startDaemon } from "../../../testing/daemon.ts";
import type { Script, ScriptStep } from "../../../testing/model/script.ts";
import { promptOf, tick } from "../../../testing/model/stages.ts";
import { thorough } from "../../../testing/thorough.ts";

const works = (...steps: readonly ScriptStep[]): Script => [
  { when: promptOf("worker"), steps: [...steps, tick, { say: "Done." }] },
];

/** Stands between prloom and the program: hooks have two seconds, and answers to what `isLost` says never arrive. */
const between = (program: string, isLost: string): string => `#!${process.execPath}
const { createInterface } = require("node:readline");
const child = require("node:child_process").spawn(${JSON.stringify(program)}, process.argv.slice(2), { stdio: ["pipe", "pipe", "inherit"] });
const lost = new Set();
createInterface({ input: process.stdin }).on("line", (line) => {
  const told = JSON.parse(line);
  for (const [hook] of Object.values(told.request?.hooks ?? {})) hook.timeout = 2;
  if (!lost.has(told.response?.request_id)) child.stdin.write(JSON.stringify(told) + "\\n");
}).on("close", () => child.stdin.end());
createInterface({ input: child.stdout }).on("line", (line) => {
  const { type, request_id, request } = JSON.parse(line);
  if (type === "control_request" && (${isLost})) lost.add(request_id);
  process.stdout.write(line + "\\n");
});
child.on("exit", (code) => process.exit(code ?? 1));
`;

/** Without a sandbox: what is proved is that the policy alone is enough. */
describe("Claude Code whose questions are answered late or never", () => {
  const workshop = makeWorkshop({ program: "claude", config: { adapter: "claude", sandbox: "none" }, startSeconds: 5 });
  after(() => workshop.close());
  const isWritten = ({ project }: Bench): boolean => existsSync(join(project.worktree("governed"), "src/form.txt"));

  for (const [what, isLost, told] of [
    ["hook", 'request.callback_id === "PreToolUse"', /not ticked/],
    ["permission", 'request.subtype === "can_use_tool"', /silent for limits\.silenceTimeout/],
  ] as const)
    test(`a ${what} that is never answered: nothing is written or read, and the attempt fails`, thorough, async (t) => {
      const script = works(
        { read: ".env" },
        { shell: "cat .env" },
        { write: "src/form.txt", content: "x\n" },
        { shell: "echo x > src/form.txt" },
      );
      const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 1, silenceTimeout: "15s" } });
      if (!bench) return;
      const { project, model, program } = bench;
      writeFileSync(join(project.root, ".env"), "KEY=not-for-models\n");
      project.git("add", "-fA");
      project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "files");
      const command = join(project.home, "claude.cjs");
      writeFileSync(command, between(program.command, isLost), { mode: 0o755 });
      const { real } = project.config().agents as { real: Record<string, unknown> };
      project.config({ agents: { real: { ...real, command } } });
      project.plan("governed", ["Build the form"]);
      await project.work();
      assert.match(bench.blockedReason("governed"), told);
      assert(!isWritten(bench));
      assert(!model.asked().some(({ body }) => JSON.stringify(body).includes("not-for-models")));
    });

  test(
    "a hook of the user's that permits before we can refuse what another rewrote ends the run",
    thorough,
    async (t) => {
      const script = works({ shell: "ls" }, { write: "src/form.txt", content: "x\n" });
      const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 1 } });
      if (!bench) return;
      const { project, program } = bench;
      const command = join(project.home, "claude.cjs");
      writeFileSync(command, between(program.command, 'request.tool_name === "Bash"'), { mode: 0o755 });
      const { real } = project.config().agents as { real: Record<string, unknown> };
      project.config({ agents: { real: { ...real, command } } });
      const says = (hookEventName: string, more: object): object => {
        const output = JSON.stringify({ hookSpecificOutput: { hookEventName, ...more } });
        return [{ matcher: "Bash", hooks: [{ type: "command", command: `cat > /dev/null; echo '${output}'` }] }];
      };
      const hooks = {
        PreToolUse: says("PreToolUse", { updatedInput: { command: "echo x > ../outside.txt" } }),
        PermissionRequest: says("PermissionRequest", { decision: { behavior: "allow" } }),
      };
      mkdirSync(join(project.home, ".claude"), { recursive: true });
      writeFileSync(join(project.home, ".claude", "settings.json"), JSON.stringify({ hooks }));
      project.plan("governed", ["Build the form"]);
      await project.work();
      assert.match(bench.blockedReason("governed"), /The policy ended the run: a call ran that prloom had denied/);
      assert(!isWritten(bench), "it came to nothing after that");
    },
  );

  for (const how of ["killed", "let go on"] as const)
    test(
      `a dispatcher that stands still while a hook waits, and is ${how}: nothing is written meanwhile`,
      thorough,
      async (t) => {
        let dispatcher: number | undefined;
        let isStopped = false;
        const stopAndWrite: ScriptStep = () => {
          if (dispatcher !== undefined && !isStopped) isStopped = process.kill(dispatcher, "SIGSTOP");
          return { write: "src/form.txt", content: "x\n" };
        };
        const script = works({ read: "README.md" }, stopAndWrite);
        const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 1 } });
        if (!bench) return;
        const { project } = bench;
        project.plan("governed", ["Build the form"]);
        const daemon = await startDaemon(project);
        dispatcher = daemon.pid;
        const asked = /"callback_id":"PreToolUse".*form\.txt/;
        const output = join(project.authority, "plans/governed/runs/1/output.log");
        while (!isStopped || !asked.test(readFileSync(output, "utf8"))) await sleep(50);
        assert(!isWritten(bench));
        if (how === "killed") {
          await daemon.end("SIGKILL");
          while (project.processes().length > 0) await sleep(50);
          assert(!isWritten(bench));
          await project.work();
        } else {
          process.kill(daemon.pid, "SIGCONT");
          await daemon.said("governed", /in review/);
          await daemon.end();
        }
        assert.equal(project.record("governed").status, "review");
        assert.equal(project.git("show", "prloom/governed:src/form.txt"), "x\n");
        const { runs } = JSON.parse((await project.cli(["show", "governed", "--json"])).stdout);
        assert.deepEqual(
          runs.map(({ attempt }: { attempt: number }) => attempt),
          how === "killed" ? [1, 1] : [1],
          "an interruption is no attempt",
        );
      },
    );

  test("a reload of other rules ends the agent of a plugin, which is then run by those", thorough, async (t) => {
    const atWork = ({ project }: Bench): string => join(project.worktree("governed"), "src", "at-work");
    const begins: ScriptStep = () =>
      bench && existsSync(atWork(bench))
        ? { write: "src/form.txt", content: "x\n" }
        : { shell: "touch src/at-work; sleep 600" };
    const script = [
      { when: /^Change something/, steps: [begins, { say: "I tried." }] },
      ...works({ write: "todo.txt", content: "x\n" }),
    ];
    const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 1 } });
    if (!bench) return;
    const { project } = bench;
    const said = join(project.home, "said");
    const code = `import { appendFileSync } from "node:fs";
      const beforeTodo = async (plan, ctx) => {
        appendFileSync(${JSON.stringify(said)}, await ctx.runAgent("Change something.", { stage: "worker" }));
      };
      export default () => ({ beforeTodo });`;
    writeFileSync(join(project.root, "src", "asks.mjs"), code);
    project.config({ plugins: { asks: { module: "./src/asks.mjs" } } });
    project.plan("governed", ["Build the form"]);
    const daemon = await startDaemon(project);
    while (!existsSync(atWork(bench))) await sleep(50);
    project.config({ governance: { protected: ["src/form.txt"] } });
    assert.equal((await project.cli(["reload", "--yes"])).code, 0);
    await daemon.said("governed", /in review/);
    const { stdout } = await daemon.end();
    assert.match(stdout, /ending its agent: the policy changed/);
    assert.equal(readFileSync(said, "utf8").trim(), "I tried.", "the plugin only waited");
    assert(!isWritten(bench));
  });
});
