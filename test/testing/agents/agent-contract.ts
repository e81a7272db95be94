import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { agentEnvironment } from "../../../src/agents/environment.ts";
import type { AgentAdapter, AgentEvent, AgentRequest, RunExit, RunLimits } from "../../../src/agents/port.ts";
import { readExit } from "../../../src/agents/runner/run-exit.ts";
import { outputTail, probePidNamespace } from "../../../src/agents/runner/runner.ts";
import { NAMESPACE_ARGS } from "../../../src/agents/sandbox/args.ts";
import { identityOf, processesOfRun } from "../../../src/kernel/system/process-tree.ts";
import { thorough } from "../thorough.ts";
import { appears, processesIn, SCRIPTS, shimOf, writeProgram } from "./agent-scripts.ts";

export interface AdapterUnderTest {
  /** An adapter that starts `program`, an executable that the suite wrote in place of the real agent. */
  make(program: string): AgentAdapter;
  /** Source of an ES module that exports the same `make`: one test kills the process in which the adapter runs. */
  readonly source: string;
  /**
   * For adapters that talk to their program: a line for the shell that takes what was said first from stdin, which stays
   * open, and prints the prompt in it.
   */
  readonly readPrompt?: string;
  /** How its runs end is left to the whole run: the ordinary one shows it with another adapter that starts its program alike. */
  readonly brief?: true;
}

const LIMITS: RunLimits = { deadlineMs: 120_000, silenceMs: 120_000, maxOutputBytes: 1024 * 1024, graceMs: 5000 };
const FIVE_MB = 5 * 1024 * 1024;

function kinds(events: readonly AgentEvent[]): string {
  return events.map((event) => event.type).join(" ");
}

/** Every adapter runs this: what must hold whatever program it starts. */
export function agentContract(name: string, adapter: AdapterUnderTest): void {
  describe(`agent contract: ${name}`, { concurrency: 3 }, () => {
    const root = mkdtempSync(join(tmpdir(), "prloom-agent-"));
    const module = join(root, "adapter.mjs");
    const ends = adapter.brief ? thorough : {};
    let count = 0;
    let namespaces = false;

    before(async () => {
      namespaces = await probePidNamespace();
      writeFileSync(module, adapter.source);
    });
    after(() => rmSync(root, { recursive: true, force: true }));

    function programOf(body: string): string {
      count += 1;
      return writeProgram(join(root, `program-${count}`), body, adapter.readPrompt);
    }

    function requestFor(more: Partial<AgentRequest> = {}): AgentRequest {
      count += 1;
      const runDir = join(root, `run-${count}`);
      const cwd = join(root, `work-${count}`);
      mkdirSync(cwd);
      const vars = { PRLOOM_STAGE: "worker", PRLOOM_RUN_DIR: join(runDir, "agent") };
      return {
        stage: "worker",
        prompt: "Do it.",
        cwd,
        runDir,
        runId: `contract-${process.pid}-${count}`,
        env: agentEnvironment(process.env, { vars, extra: {} }),
        limits: LIMITS,
        signal: new AbortController().signal,
        ...more,
      };
    }

    async function collect(program: string, request: AgentRequest): Promise<AgentEvent[]> {
      const events: AgentEvent[] = [];
      for await (const event of adapter.make(program).start(request)) events.push(event);
      return events;
    }

    /** Runs to the end; checks what holds for every complete run. */
    async function complete(body: string, request: AgentRequest): Promise<RunExit> {
      const events = await collect(programOf(body), request);
      const last = events.at(-1);
      assert.equal(last?.type, "done", kinds(events));
      assert(last?.type === "done");
      assert.deepEqual(readExit(request.runDir), last.exit);
      assert.deepEqual(processesOfRun(request.runId, []), []);
      return last.exit;
    }

    /** The pid that a program said; it must have been told, and that process must be gone. */
    function assertGone(request: AgentRequest, who: string): void {
      const pid = Number(readFileSync(join(request.runDir, "agent", who), "utf8"));
      assert(pid > 1);
      assert.equal(identityOf(pid), undefined, `${who} ${pid} still lives`);
    }

    function assertInterrupted(request: AgentRequest, events: readonly AgentEvent[]): void {
      assert(!events.some((event) => event.type === "done"), kinds(events));
      assert.equal(readExit(request.runDir), undefined);
      assert.deepEqual(processesOfRun(request.runId, []), []);
    }

    test("does the work, with the prompt on stdin and PRLOOM_* in the environment", async () => {
      const request = requestFor({ prompt: "Größe: 1 < 2 & {{x}}\n" });
      const exit = await complete(SCRIPTS.works, request);
      assert.deepEqual([exit.reason, exit.code, exit.signal, exit.leftBehind], ["exited", 0, null, 0]);
      assert.equal(readFileSync(join(request.cwd, "prompt.txt"), "utf8"), request.prompt);
      assert.equal(readFileSync(join(request.cwd, "stage.txt"), "utf8"), "worker\n");
    });

    test("what it prints is kept in order, stderr and /dev/stderr included", async () => {
      const request = requestFor();
      const exit = await complete(SCRIPTS.prints, request);
      assert.equal(outputTail(request.runDir, 1000), "one\ntwo\nthree\nfour\n");
      assert.deepEqual([exit.outputBytes, exit.truncated], [19, false]);
    });

    test("/dev/stdin can be opened", async (context) => {
      if (adapter.readPrompt) return context.skip("its stdin is not a file: it stays open for what is said later");
      const request = requestFor();
      assert.equal((await complete(SCRIPTS.readsDevStdin, request)).code, 0);
      assert.equal(readFileSync(join(request.cwd, "prompt.txt"), "utf8"), request.prompt);
    });

    test("an exit code and a signal are told", async () => {
      assert.equal((await complete(SCRIPTS.fails, requestFor())).code, 7);
      const exit = await complete(SCRIPTS.killsItself, requestFor());
      assert.deepEqual([exit.reason, exit.code, exit.signal], ["exited", null, "SIGKILL"]);
    });

    test("a program that cannot be started is named with the reason", async () => {
      const missing = join(root, "no-such-program");
      const request = requestFor();
      const events = await collect(missing, request);
      const exit = readExit(request.runDir);
      assert.equal(events.at(-1)?.type, "done");
      assert.equal(exit?.reason, "spawn-failed");
      assert.match(exit.error ?? "", /ENOENT.*no-such-program/);

      const closed = join(root, "not-executable");
      writeFileSync(closed, "#!/bin/sh\n", { mode: 0o644 });
      const second = requestFor();
      await collect(closed, second);
      assert.match(readExit(second.runDir)?.error ?? "", /EACCES.*not-executable/);

      const third = requestFor({ cwd: join(root, "no-such-folder") });
      await collect(programOf("true"), third);
      assert.match(readExit(third.runDir)?.error ?? "", /ENOENT.*no-such-folder/);
    });

    test("a program that hangs is ended at its deadline", ends, async () => {
      const request = requestFor({ limits: { ...LIMITS, deadlineMs: 400 } });
      const exit = await complete(SCRIPTS.hangs, request);
      assert.equal(exit.reason, "deadline");
      assert.equal(exit.signal, "SIGTERM");
      assertGone(request, "agent");
    });

    test("a silent program is ended, also one that ignores SIGTERM", ends, async () => {
      for (const body of [SCRIPTS.silent, SCRIPTS.ignoresTerm]) {
        const request = requestFor({ limits: { ...LIMITS, silenceMs: 400, graceMs: 200 } });
        const exit = await complete(body, request);
        assert.equal(exit.reason, "silence");
        assertGone(request, "agent");
      }
    });

    test("a flood of 50 MB is capped and does not block the program", ends, async () => {
      const request = requestFor();
      const exit = await complete(SCRIPTS.floods, request);
      assert.deepEqual([exit.code, exit.outputBytes, exit.truncated], [0, 50 * 1024 * 1024, true]);
      assert(existsSync(join(request.cwd, "flooded.txt")));
      const kept = statSync(join(request.runDir, "output.log")).size;
      assert(kept < LIMITS.maxOutputBytes + 100);
      assert.match(outputTail(request.runDir, 60), new RegExp(`… ${49 * 1024 * 1024} bytes not kept\n$`));
    });

    test("what it leaves behind is ended: children, other sessions, stubborn ones", ends, async () => {
      for (const body of [SCRIPTS.leavesChild, SCRIPTS.leavesSession, SCRIPTS.leavesStubborn]) {
        const request = requestFor({ limits: { ...LIMITS, graceMs: 300 } });
        const exit = await complete(body, request);
        assert.deepEqual([exit.reason, exit.code], ["exited", 0]);
        assert(exit.leftBehind >= 1, `${exit.leftBehind} left behind`);
        assertGone(request, "child");
      }
    });

    test("a prompt of 5 MB arrives whole, and need not be read", async () => {
      const prompt = "p".repeat(FIVE_MB);
      const request = requestFor({ prompt });
      assert.equal((await complete(SCRIPTS.countsPrompt, request)).code, 0);
      assert.equal(Number(readFileSync(join(request.cwd, "count.txt"), "utf8")), FIVE_MB);
      assert.equal((await complete(SCRIPTS.neverReads, requestFor({ prompt }))).code, 0);
    });

    test("a stop asks the program itself first, and leaves no exit", ends, async () => {
      const controller = new AbortController();
      const request = requestFor({ signal: controller.signal });
      const events = collect(programOf(SCRIPTS.endsInOrder), request);
      await appears(join(request.runDir, "agent", "agent"));
      controller.abort();
      assertInterrupted(request, await events);
      for (const who of ["bye", "agent", "child"]) assertGone(request, who);
    });

    test("a stop ends a program that ignores SIGTERM", ends, async () => {
      const controller = new AbortController();
      const request = requestFor({ signal: controller.signal, limits: { ...LIMITS, graceMs: 200 } });
      const events = collect(programOf(SCRIPTS.ignoresTerm), request);
      await appears(join(request.runDir, "agent", "agent"));
      controller.abort();
      assertInterrupted(request, await events);
      assertGone(request, "agent");
    });

    test("a request that was aborted before starts nothing", async () => {
      const request = requestFor({ signal: AbortSignal.abort() });
      assert.deepEqual(await collect(programOf(SCRIPTS.works), request), []);
      assert(!existsSync(request.runDir));
    });

    test("who stops listening stops the run", ends, async () => {
      const request = requestFor();
      for await (const event of adapter.make(programOf(SCRIPTS.hangs)).start(request)) {
        assert.notEqual(event.type, "done");
        break;
      }
      assertInterrupted(request, []);
      assertGone(request, "agent");
    });

    test("a killed shim leaves nothing alive and no exit", ends, async () => {
      const request = requestFor({ limits: { ...LIMITS, graceMs: 200 } });
      const events = collect(programOf(SCRIPTS.ignoresTerm), request);
      await appears(join(request.runDir, "agent", "agent"));
      process.kill(shimOf(request.runDir), "SIGKILL");
      assertInterrupted(request, await events);
      assertGone(request, "agent");
    });

    test("when the daemon is killed, its agents end by themselves and leave no exit", ends, async () => {
      const request = requestFor({ limits: { ...LIMITS, graceMs: 200 } });
      const { signal: _signal, ...plain } = request;
      const script = `import { make } from ${JSON.stringify(module)};
        const request = ${JSON.stringify(plain)};
        const program = ${JSON.stringify(programOf(SCRIPTS.ignoresTerm))};
        for await (const event of make(program).start({ ...request, signal: new AbortController().signal })) void event;`;
      mkdirSync(join(request.runDir, "agent"), { recursive: true });
      const daemon = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
      await appears(join(request.runDir, "agent", "agent"));
      const shim = shimOf(request.runDir);
      daemon.kill("SIGKILL");
      await once(daemon, "exit");
      while (identityOf(shim)) await new Promise((resolve) => setTimeout(resolve, 20));
      assertInterrupted(request, []);
      assertGone(request, "agent");
    });

    test("in a pid namespace not even what cleared its session and environment survives", ends, async (context) => {
      if (!namespaces) return context.skip("bubblewrap does not work here");
      const request = requestFor({ wrapper: NAMESPACE_ARGS });
      const exit = await complete(SCRIPTS.escapes, request);
      assert.deepEqual([exit.reason, exit.code], ["exited", 0]);
      assert(existsSync(join(request.runDir, "agent", "child")));
      assert.deepEqual(processesIn(request.cwd), []);
    });

    test(
      "in a pid namespace stop, deadline, a missing program and a killed shim are as without",
      ends,
      async (context) => {
        if (!namespaces) return context.skip("bubblewrap does not work here");
        const controller = new AbortController();
        const stopped = requestFor({ wrapper: NAMESPACE_ARGS, signal: controller.signal });
        const events = collect(programOf(SCRIPTS.endsInOrder), stopped);
        await appears(join(stopped.runDir, "agent", "agent"));
        controller.abort();
        assertInterrupted(stopped, await events);
        assert(existsSync(join(stopped.runDir, "agent", "bye")));

        const late = requestFor({ wrapper: NAMESPACE_ARGS, limits: { ...LIMITS, deadlineMs: 400, graceMs: 200 } });
        assert.equal((await complete(SCRIPTS.ignoresTerm, late)).reason, "deadline");
        assert.deepEqual(processesIn(late.cwd), []);

        const missing = requestFor({ wrapper: NAMESPACE_ARGS });
        await collect(join(root, "no-such-program"), missing);
        assert.equal(readExit(missing.runDir)?.reason, "spawn-failed");

        const orphaned = requestFor({ wrapper: NAMESPACE_ARGS, limits: { ...LIMITS, graceMs: 200 } });
        const rest = collect(programOf(SCRIPTS.ignoresTerm), orphaned);
        await appears(join(orphaned.runDir, "agent", "agent"));
        process.kill(shimOf(orphaned.runDir), "SIGKILL");
        assertInterrupted(orphaned, await rest);
        assert.deepEqual(processesIn(orphaned.cwd), []);
      },
    );
  });
}
