import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { appears } from "../../../testing/agents/agent-scripts.ts";
import { startDaemon } from "../../../testing/daemon.ts";
import type { Project } from "../../../testing/project.ts";
import { projectMaker, succeeds, works } from "../../../testing/projects.ts";
import { thorough } from "../../../testing/thorough.ts";

const TICK = `sed -i '0,/\\[ \\]/s//[x]/' "$PRLOOM_PLAN_FILE"`;

describe("a TODO that a person changes while it is under way", { concurrency: 2 }, () => {
  const fresh = projectMaker();

  /** Its agent does each TODO but "two", which it says cannot be done, with half of a change left behind. */
  function make(checks: readonly string[] = []): Project {
    const script = `case "$PRLOOM_TODO" in two) echo half > half.txt; echo '{"outcome": "blocked", "reason": "no idea"}' > "$PRLOOM_OUTCOME_FILE";; *) echo "$PRLOOM_TODO" >> work.txt; ${TICK};; esac`;
    const agents = { w: { adapter: "command", command: "sh", args: ["-c", script], sandbox: "none" } };
    const project = fresh({ config: { agents, stages: { default: "w" }, checks } });
    project.plan("p", ["one", "two", "three"]);
    return project;
  }

  async function edit(project: Project, change: (text: string) => string): Promise<void> {
    const file = join(project.home, "other.md");
    writeFileSync(file, change(project.planText("p")));
    await succeeds(project, "edit", "p", "--file", file);
  }

  /** What a person does in the worktree of a plan whose second TODO is blocked. */
  async function atBlocked(checks?: readonly string[]): Promise<{ project: Project; tree: string }> {
    const project = make(checks);
    await works(project);
    assert.match(project.record("p").blocked?.reason ?? "", /TODO 2 cannot be done: no idea/);
    return { project, tree: project.worktree("p") };
  }

  function commitByHand(tree: string, message: string): void {
    const git = (...args: string[]) => execFileSync("git", ["-C", tree, ...args], { encoding: "utf8" });
    git("add", "by-hand.txt");
    git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", message);
  }

  const tick = (text: string) => text.replace(/- \[.\] two/, "- [x] two");

  test("reworded under its check: its work is put aside and named, and the new TODO begins without it", async () => {
    const project = make();
    const gate = (name: string) => join(project.home, name);
    const check = `touch '${gate("at-check")}'; until [ -e '${gate("go")}' ]; do sleep 0.05; done`;
    project.config({ checks: [check] });
    project.plan("p", ["one"]);
    const daemon = await startDaemon(project);
    await daemon.said("p", /^check: /);
    await edit(project, (text) => text.replace("one", "another"));
    writeFileSync(gate("go"), "");
    const { text } = await daemon.said("p", /the work is kept in/);
    await daemon.said("p", /in review/);
    await daemon.end();
    assert.deepEqual(project.commits("p"), ["another"]);
    assert.equal(project.git("show", "prloom/p:work.txt"), "another\n");
    const [, patch = ""] = /kept in (\S+)$/.exec(text) ?? [];
    assert.match(readFileSync(patch, "utf8"), /^\+one$/m);
    assert.match(await succeeds(project, "show", "p"), new RegExp(`put aside ${patch}`));
    await succeeds(project, "merge", "p");
    assert.match(await succeeds(project, "clean"), new RegExp(`kept: what p put aside earlier, in ${patch}`));
  });

  test("ticked, with work of a person in the tree: that is its commit, checked like any other", thorough, async () => {
    const { project, tree } = await atBlocked(["! grep -q bad by-hand.txt"]);
    writeFileSync(join(tree, "by-hand.txt"), "bad\n");
    await edit(project, tick);
    await succeeds(project, "unblock", "p");
    await works(project);
    assert.match(project.record("p").blocked?.reason ?? "", /^TODO 2 was ticked by hand, .* A check failed\./);
    writeFileSync(join(tree, "by-hand.txt"), "good\n");
    await succeeds(project, "unblock", "p");
    assert.match(await works(project), /TODO 2 was ticked by hand; committing 2 changed files: two/);
    assert.deepEqual(project.commits("p"), ["one", "two", "three"]);
    assert.equal(project.git("show", "prloom/p:by-hand.txt"), "good\n");
    assert.match(await succeeds(project, "diff", "p", "--todo", "2"), /^\+good$/m);
    assert.equal(project.record("p").status, "review");
  });

  test("ticked, and done by a commit of the person: that commit stays, and there is no other", thorough, async () => {
    const { project, tree } = await atBlocked();
    writeFileSync(join(tree, "by-hand.txt"), "mine\n");
    commitByHand(tree, "two, by hand");
    await edit(project, tick);
    await succeeds(project, "unblock", "p");
    await works(project);
    assert.deepEqual(project.commits("p"), ["one", "two, by hand", "three"]);
    assert.equal(project.git("show", "prloom/p:by-hand.txt"), "mine\n");
  });

  test("a commit of a person stays, whether its TODO is gone on with, reworded or reset", thorough, async () => {
    const changes: Record<string, (project: Project) => Promise<unknown>> = {
      "gone on with": async (project) => {
        await edit(project, (text) => text.replace(/- \[.\] two/, "- [ ] two\n  and no more"));
        await succeeds(project, "unblock", "p");
        await works(project);
        await edit(project, (text) => text.replace(/- \[.\] two/, "- [x] two"));
        return succeeds(project, "unblock", "p");
      },
      reworded: async (project) => {
        await edit(project, (text) => text.replace(/- \[.\] two/, "- [ ] 2nd"));
        return succeeds(project, "unblock", "p");
      },
      reset: async (project) => {
        assert.match(await succeeds(project, "unblock", "p", "--reset"), /kept in \S+discarded\.patch/);
        return edit(project, tick);
      },
    };
    for (const [what, change] of Object.entries(changes)) {
      const { project, tree } = await atBlocked();
      writeFileSync(join(tree, "by-hand.txt"), "mine\n");
      commitByHand(tree, "by hand");
      appendFileSync(join(tree, "half.txt"), "more\n");
      await change(project);
      await works(project);
      assert.equal(project.record("p").status, "review", what);
      assert.deepEqual(project.commits("p").slice(0, 2), ["one", "by hand"], what);
      assert.equal(project.commits("p").at(-1), "three", what);
      assert.equal(project.git("show", "prloom/p:by-hand.txt"), "mine\n", what);
      // What the agent had staged went into the person's commit.
      assert.equal(project.git("show", "prloom/p:half.txt"), "half\n", what);
    }
  });

  test("ticked while an agent is at it: that agent's work is put aside, and named", thorough, async () => {
    const project = make();
    const script = "echo agent > work.txt; exec sleep 600";
    project.config({ agents: { w: { adapter: "command", command: "sh", args: ["-c", script], sandbox: "none" } } });
    project.plan("p", ["one"]);
    const daemon = await startDaemon(project);
    await daemon.said("p", /worker started/);
    await appears(join(project.worktree("p"), "work.txt"));
    await edit(project, (text) => text.replace("[ ] one", "[x] one"));
    const { text } = await daemon.said("p", /its TODO was changed; what it left is kept in/);
    await daemon.said("p", /in review/);
    await daemon.end();
    assert.match(readFileSync(/kept in (\S+)$/.exec(text)?.[1] ?? "", "utf8"), /^\+agent$/m);
    assert.deepEqual(project.commits("p"), []);
  });
});
