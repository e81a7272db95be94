import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { onScreen } from "../../../src/cli/reading/status-screen.ts";
import { CLI, NODE_FLAGS } from "../../testing/program.ts";
import { inTerminal, NO_TERMINAL } from "../../testing/terminal.ts";
import { thorough } from "../../testing/thorough.ts";
import { repositoryFor } from "../fixture.ts";

describe("status --watch", { concurrency: 2 }, () => {
  it("prints a line for each change where there is no terminal, with what the agent did last", async (t) => {
    const { root, run } = repositoryFor(t);
    await run(["new", "Watched", "--todo", "gated", "--queue"]);
    const { stdout, stderr, code } = await run(["status", "--watch"], {
      when: {
        says: "watched  queued  0/1  no dispatcher is running",
        act: (watching) => {
          const go = (text: string): void => {
            if (text.includes("working on gated")) writeFileSync(join(root, "go"), "");
            if (text.includes("watched  review  1/1")) watching.kill("SIGINT");
          };
          watching.stdout?.on("data", go);
          void run(["start", "--detach"]);
        },
      },
    });
    assert.equal(code, 0, stderr);
    const lines = stdout.trimEnd().split("\n");
    for (const line of lines) assert.match(line, /^\d{4}-\d\d-\d\dT[\d:.]+Z {2}\S/);
    assert.match(lines[0] ?? "", /Z {2}dispatcher: not running$/);
    assert.match(stdout, /Z {2}dispatcher: running \(pid \d+\)$/m);
    assert.match(stdout, /Z {2}watched {2}active, working {2}0\/1 {2}working on gated$/m);
    assert.match(lines.at(-1) ?? "", /Z {2}watched {2}review {2}1\/1 {2}your review: `prloom merge watched`$/);
    const told = lines.map((line) => line.slice(line.indexOf("  ")));
    assert.equal(told.filter((line, index) => line === told[index - 1]).length, 0, "a line is told once");
  });

  it("prints an object for each change with --json, and for a plan that was deleted", thorough, async (t) => {
    const { run } = repositoryFor(t);
    await run(["new", "Watched", "--todo", "one"]);
    const { stdout, code } = await run(["status", "--watch", "--json"], {
      when: {
        says: '"planId":"watched"',
        act: (watching) => {
          watching.stdout?.on("data", (text: string) => text.includes('"deleted"') && watching.kill("SIGINT"));
          void run(["queue", "watched"]).then(() => run(["delete", "watched", "--yes"]));
        },
      },
    });
    assert.equal(code, 0);
    const told = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const states = told.map(({ type, status }) => status ?? type);
    // A look in the middle of `queue` sees the times of the file, and the next one those of its record: two changes.
    assert.deepEqual(
      states.filter((state, index) => state !== states[index - 1]),
      ["dispatcher", "draft", "queued", "deleted"],
    );
  });

  it("redraws in a terminal, and gives it back at Ctrl-C", { skip: NO_TERMINAL }, async (t) => {
    const { root, run } = repositoryFor(t);
    await run(["new", "Watched", "--todo", "one"]);
    // The shell gets the interrupt too, and is to outlive it.
    const line = `trap : INT; stty cols 60 rows 20; ${[process.execPath, ...NODE_FLAGS, CLI].join(" ")} status --watch; echo ended $?`;
    const screen = inTerminal(line, { cwd: root, env: { ...(process.env as Record<string, string>), HOME: root } });
    await screen.shows(/watched.*draft/);
    await run(["queue", "watched"]);
    await screen.shows(/watched.*queued/);
    screen.type("\u0003");
    const printed = await screen.ended;
    assert.match(printed, /ended 0/);
    assert.ok(printed.lastIndexOf("\u001b[?25h") > printed.lastIndexOf("\u001b[?25l"), "the cursor is back");
  });
});

describe("what fits onto a screen", () => {
  const table = ["HEADER", "one", "two", "three", "four", "five", "six"];

  it("is everything if there is room", () => {
    assert.deepEqual(onScreen({ table, around: ["around"] }, { width: 20, height: 10 }), [...table, "", "around"]);
  });

  it("is the table first, and of it what has room", () => {
    const [, , , , cut, , around] = onScreen({ table, around: ["around"] }, { width: 20, height: 8 });
    assert.deepEqual([cut, around], ["… 3 more", "around"]);
    assert.deepEqual(onScreen({ table, around: ["around"] }, { width: 20, height: 5 }), [
      "HEADER",
      "one",
      "two",
      "… 4 more",
    ]);
  });

  it("counts the lines that a long one takes", () => {
    const around = ["x".repeat(45)];
    assert.deepEqual(onScreen({ table: ["HEADER", "one"], around }, { width: 20, height: 6 }), ["HEADER", "one", ""]);
    assert.equal(onScreen({ table: ["HEADER", "one"], around }, { width: 20, height: 7 }).length, 4);
  });
});
