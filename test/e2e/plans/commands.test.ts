import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startDaemon } from "../../testing/daemon.ts";
import type { CliResult, Project } from "../../testing/project.ts";
import { projectMaker } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

/** One command of the scenario below, and what is compared after it. */
interface Told {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly record: unknown;
}

/** Each is said to a plan; some are refused, which must be the same refusal either way. */
const SCENARIO: readonly (readonly string[])[] = [
  ["hide", "draft"],
  ["queue", "draft"],
  ["unhide", "missing"],
  ["pause", "draft"],
  ["unhide", "draft"],
  ["block", "draft", "waits", "for", "the", "weather"],
  ["resume", "draft"],
  ["comment", "draft", "--todo", "9", "no such"],
  ["comment", "draft", "--todo", "2", "use the other word"],
  ["hide", "ready"],
  ["block", "ready", "not yet"],
  ["queue", "ready"],
  ["merge", "draft"],
  ["unblock", "ready"],
  ["unhide", "ready"],
  ["clean"],
  ["delete", "ready"],
  ["delete", "spare"],
  ["delete", "used", "--yes", "--branch"],
  ["edit", "draft", "--file", "EDITED"],
  ["edit", "draft", "--file", "EMPTY"],
  ["edit", "draft", "--file", "EDITED", "--based-on", "0".repeat(64)],
];

const fresh = projectMaker();

async function prepared(): Promise<Project> {
  const project = fresh();
  for (const id of ["ready", "used"]) project.plan(id, ["one"]);
  await project.work();
  project.plan("draft", ["one", "two"], { status: "draft" });
  project.plan("spare", ["one"], { status: "draft" });
  writeFileSync(
    join(project.home, "edited.md"),
    "## Title\n\nEdited\n\n## TODO\n\n- [ ] one\n- [ ] two\n- [ ] three\n",
  );
  writeFileSync(join(project.home, "empty.md"), "\n");
  return project;
}

/** What is the same in two projects: paths and ids replaced, the record without times. */
function comparable(project: Project, args: readonly string[], result: CliResult): Told {
  const plain = (text: string) =>
    text
      .replaceAll(project.root, "ROOT")
      .replace(/local-[0-9A-Z]{26}/g, "EVENT")
      .replace(/\b[0-9a-f]{12,40}\b/g, "SHA");
  const file = join(project.authority, "plans", args[1] ?? "", "state.json");
  const record = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const { status, hidden, paused, outcome, worktreeReady, inInbox } = record;
  const blocked = record.blocked && { reason: record.blocked.reason, cause: record.blocked.cause };
  return {
    code: result.code,
    stdout: plain(result.stdout),
    stderr: plain(result.stderr),
    record: { status, hidden, paused, outcome, worktreeReady, inInbox, blocked, deleted: record.deleted?.reason },
  };
}

async function play(project: Project): Promise<Told[]> {
  const told: Told[] = [];
  for (const line of SCENARIO) {
    const files: Record<string, string> = { EDITED: "edited.md", EMPTY: "empty.md" };
    const args = line.map((word) => (files[word] ? join(project.home, files[word]) : word));
    told.push(comparable(project, line, await project.cli([...args, "--json"])));
  }
  return told;
}

describe("commands", { concurrency: 2 }, () => {
  test("do the same with a running dispatcher and without one", thorough, async () => {
    const [alone, served] = await Promise.all([prepared(), prepared()]);
    const daemon = await startDaemon(served);
    const [first, second] = await Promise.all([play(alone), play(served)]);
    for (const [index, line] of SCENARIO.entries()) {
      assert.deepEqual(second[index], first[index], `prloom ${line.join(" ")}`);
    }
    const codes = Object.fromEntries(first.map(({ code }, index) => [`${index} ${SCENARIO[index]?.join(" ")}`, code]));
    const refused = Object.entries(codes).filter(([, code]) => code !== 0);
    assert.deepEqual(
      refused.map(([line, code]) => `${line.replace(/^\d+ /, "").split(" ").slice(0, 4).join(" ")}: ${code}`),
      [
        "unhide missing: 1",
        "comment draft --todo 9: 2",
        "queue ready: 1",
        "merge draft: 1",
        "delete ready: 2",
        "edit draft --file EMPTY: 1",
        "edit draft --file EDITED: 1",
      ],
    );
    for (const project of [alone, served]) assert.equal((await project.cli(["unblock", "draft"])).code, 0);
    await daemon.said("draft", /in review/);
    assert.equal((await daemon.end()).code, 0);
    await alone.work();
    for (const project of [alone, served]) {
      assert.equal(project.record("draft").status, "review");
      assert.deepEqual(project.commits("draft"), ["one", "two", "three"]);
      assert.deepEqual([project.record("ready").hidden, project.record("ready").paused], [false, false]);
      assert.equal(project.git("branch", "--list", "prloom/used"), "");
      assert.equal(existsSync(join(project.inbox, "spare.md")), false);
      assert.equal(existsSync(project.worktree("used")), false);
    }
  });

  test("comment --todo goes into that TODO's context and its agent's prompt, and is answered", async () => {
    const project = fresh();
    project.plan("told", ["one", "two"], { status: "draft" });
    assert.equal((await project.cli(["comment", "told", "--todo", "2", "mind the gap"])).code, 0);
    assert.equal((await project.cli(["queue", "told"])).code, 0);
    await project.work();
    assert.match(project.planText("told"), /- \[x\] two\n(?: {2}.*\n)* {2,}> mind the gap/);
    assert.doesNotMatch(todoIn(project.runFile("told", 1, join("agent", "prompt.txt"))), /mind the gap/);
    assert.match(todoIn(project.runFile("told", 2, join("agent", "prompt.txt"))), /mind the gap/);
    const shown = JSON.parse((await project.cli(["show", "told", "--json"])).stdout);
    assert.deepEqual(
      shown.thread.map((entry: { body: string }) => entry.body),
      ["mind the gap", 'Added to the context of "two".'],
    );
  });

  test("merge refuses what is not in review, a dirty checkout in the way, and a conflict", thorough, async () => {
    const project = fresh();
    for (const id of ["clashes", "asks"]) project.plan(id, ["one"]);
    project.plan("waits", ["one"], { status: "draft" });
    await project.work();
    const refusal = async (id: string, code: string) => {
      const before = project.git("rev-parse", "main");
      const result = await project.cli(["merge", id]);
      assert.equal(result.code, 1, result.stdout);
      assert.match(result.stderr, new RegExp(`\\[${code}\\]\\n {2}hint: .*prloom`));
      assert.equal(project.git("rev-parse", "main"), before);
      return result.stderr;
    };
    await refusal("waits", "plan-state");
    writeFileSync(join(project.root, "work.txt"), "mine, not committed\n");
    assert.match(await refusal("clashes", "checkout-in-the-way"), /work\.txt/);
    assert.equal(readFileSync(join(project.root, "work.txt"), "utf8"), "mine, not committed\n");
    project.git("add", "work.txt");
    project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "mine");
    const conflict = await refusal("clashes", "merge-conflict");
    assert.match(conflict, /conflicts with main in: work\.txt/);
    assert.equal(project.git("status", "--porcelain"), "");
    assert.equal(project.record("clashes").status, "review");
    // An agent that is asked for a rebase and cannot do it gets no further, and that is told.
    const { agents } = project.config() as { agents: { test: { env: object } } };
    project.config({ agents: { test: { ...agents.test, env: { RESOLVE: "gives-up" } } } });
    assert.equal((await project.cli(["comment", "asks", "please rebase"])).code, 0);
    await project.work();
    const { blocked } = project.record("asks");
    assert.match(blocked?.reason ?? "", /was not rebased onto main, and is as it was\. .* cannot be resolved/);
    const commands = (hint: string) => [...hint.matchAll(/`(.*?)`/g)].map(([, command]) => command);
    const ways = ["rebase asks", 'send asks "…"', "unblock asks"].map((way) => `prloom ${way}`);
    ways.splice(2, 0, `git -C ${project.worktree("asks")} rebase main`);
    assert.deepEqual(commands(blocked?.hint ?? ""), ways);
    // The way out that the hint names; a merge that takes a while says above it what it does.
    const worktree = project.worktree("clashes");
    assert.deepEqual(commands(conflict.replace(/^Merging: .*\n/, "")), [
      "prloom rebase clashes",
      `git -C ${worktree} rebase main`,
      "prloom merge clashes",
    ]);
    const person = ["-C", worktree, "-c", "user.name=P", "-c", "user.email=p@localhost", "-c", "core.editor=true"];
    assert.throws(() => project.git(...person, "rebase", "main"), /could not apply/);
    writeFileSync(join(worktree, "work.txt"), "both\n");
    project.git(...person, "add", "work.txt");
    project.git(...person, "rebase", "--continue");
    // What base got meanwhile is not shown as the plan's.
    const own = JSON.parse((await project.cli(["show", "clashes", "--json"])).stdout).commits;
    assert.equal(own.length, project.commits("clashes").length);
    assert.equal((await project.cli(["diff", "clashes"])).stdout, project.git("diff", "main", "prloom/clashes"));
    const merged = await project.cli(["merge", "clashes"]);
    assert.equal(merged.code, 0, merged.stderr);
    assert.equal(project.git("show", "main:work.txt"), "both\n");
  });

  test("diff shows what a plan and each TODO changed, as a patch that can be applied", async () => {
    const project = fresh();
    project.plan("two", ["one", "two \x1b[2Jwipe"]);
    assert.match((await project.cli(["diff", "two"])).stdout, /^two has changed nothing so far\.$/m);
    await project.work();
    const whole = await project.cli(["diff", "two"]);
    assert.equal(whole.stdout, project.git("diff", "--binary", `main...${project.record("two").branch}`));
    const first = await project.cli(["diff", "two", "--todo", "1"]);
    assert.match(first.stdout, /^\+one$/m);
    assert.doesNotMatch(first.stdout, /wipe/);
    const stat = JSON.parse((await project.cli(["diff", "two", "--stat", "--json"])).stdout);
    assert.deepEqual(stat.files, [{ path: "work.txt", added: 2, removed: 0 }]);
    const none = await project.cli(["diff", "two", "--todo", "3"]);
    assert.deepEqual([none.code, /has no TODO 3; it has 2/.test(none.stderr)], [2, true]);
  });

  test("merge makes one commit unless told otherwise, and removes what is asked for", thorough, async () => {
    const project = fresh();
    const merged = async (id: string, ...flags: string[]) => {
      project.plan(id, [`${id} one`, `${id} two`]);
      await project.work();
      const before = project.git("rev-parse", "main").trim();
      const { code, stdout, stderr } = await project.cli(["merge", id, ...flags]);
      assert.equal(code, 0, stderr);
      const log = project.git("log", "--reverse", "--format=%s|%p|%b", `${before}..main`);
      return { stdout, commits: log.trim().split(/\n(?=[^\n]*\|)/) };
    };
    const squashed = await merged("squashed");
    assert.equal(squashed.commits.length, 1);
    assert.match(squashed.commits[0] ?? "", /^Plan squashed\|\w+\|- squashed one\n- squashed two\n\nPlan: squashed/);
    assert.match(squashed.stdout, /as one commit \(`--merge` and `--rebase` keep/);
    const joined = await merged("joined", "--merge", "--delete-branch");
    assert.deepEqual(joined.commits.map((line) => line.split("|")[0]).sort(), [
      "Merge Plan joined",
      "joined one",
      "joined two",
    ]);
    assert.equal(project.git("branch", "--list", "prloom/joined"), "");
    assert.equal(existsSync(project.worktree("joined")), false);
    const replayed = await merged("replayed", "--rebase");
    assert.deepEqual(
      replayed.commits.map((line) => line.split("|")[0]),
      ["replayed one", "replayed two"],
    );
    assert.equal((await project.cli(["merge", "replayed", "--rebase", "--merge"])).code, 2);
    // A branch that went on since is not deleted.
    project.git(
      "-C",
      project.worktree("replayed"),
      "-c",
      "user.name=P",
      "-c",
      "user.email=p@x",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "more",
    );
    const cleaned = await project.cli(["clean", "--branches"]);
    assert.match(cleaned.stdout, /^deleted the branch of squashed$/m);
    assert.deepEqual(project.git("branch", "--list", "prloom/*").trim().split(/\s+/), ["prloom/replayed"]);
    const gone = await project.cli(["diff", "squashed"]);
    assert.match(gone.stderr, /^error: The branch prloom\/squashed of squashed is gone.*\n {2}hint: `git show \w{12}`/);
  });

  test("clean keeps the branch of a plan whose merge was taken back", thorough, async () => {
    const project = fresh();
    for (const id of ["kept", "undone"]) {
      project.plan(id, ["one"]);
      await project.work();
      assert.equal((await project.cli(["merge", id])).code, 0);
    }
    project.git("reset", "-q", "--hard", "main~1");
    const cleaned = JSON.parse((await project.cli(["clean", "--branches", "--json"])).stdout);
    assert.deepEqual(cleaned.branches, { deleted: ["kept"], merged: [] });
    assert.equal(project.git("branch", "--list", "prloom/*").trim(), "prloom/undone");
  });

  test("clean removes the worktrees of merged plans, and only those", async () => {
    const project = fresh();
    project.plan("merged", ["one"]);
    project.plan("open", ["[no-change] one"], { status: "queued", metadata: { limits: { attemptsPerTodo: 1 } } });
    const ended = await project.cli(["start", "--until-idle", "--fail-if-blocked"]);
    assert.equal(ended.code, 1, ended.stdout);
    assert.equal((await project.cli(["start", "--fail-if-blocked"])).code, 2);
    assert.equal((await project.cli(["merge", "merged"])).code, 0);
    const cleaned = await project.cli(["clean", "--json"]);
    assert.deepEqual(JSON.parse(cleaned.stdout), {
      removed: ["merged"],
      branches: { deleted: [], merged: ["merged"] },
    });
    assert.equal(existsSync(project.worktree("merged")), false);
    assert(existsSync(project.worktree("open")));
    assert.equal(project.git("show", "main:work.txt"), "one\n");
    assert.equal(project.git("status", "--porcelain"), "");
    assert.equal(project.git("worktree", "list").trim().split("\n").length, 2);
  });

  function todoIn(prompt: string): string {
    return /<<<TODO[^\n]*\n(.*?)\nTODO /s.exec(prompt)?.[1] ?? "";
  }
});
