import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { makeProject, type Project } from "../testing/project.ts";

interface Broken {
  /** What goes wrong, as a plan's id. */
  readonly id: string;
  /** Done to a plan in review, with no dispatcher there. */
  breaks(plan: { home: string; run: string; worktree: string; record: string }): void;
  /** What `status` must say about it; without it the plan merely stays in review. */
  readonly says?: RegExp;
  /** Its record cannot be used, so no command can find it. */
  readonly isLost?: true;
}

function change(file: string, with_: (record: Record<string, unknown>) => Record<string, unknown>): void {
  writeFileSync(file, JSON.stringify(with_(JSON.parse(readFileSync(file, "utf8")))));
}

/** A run that was given to a shim and has no exit. */
function interrupt(run: string): void {
  rmSync(join(run, "exit.json"));
}

const DEEP = `{"claudeAiOauth":{"accessToken":${"[".repeat(60_000)}${"]".repeat(60_000)}}}`;

/** Each breaks another phase of a start, for its own plan alone. */
const BROKEN: readonly Broken[] = [
  { id: "record-torn", breaks: ({ record }) => writeFileSync(record, "{ half"), says: /cannot be used/, isLost: true },
  {
    id: "record-newer",
    breaks: ({ record }) => change(record, (old) => ({ ...old, schemaVersion: 99 })),
    says: /format 99/,
    isLost: true,
  },
  {
    id: "record-foreign",
    breaks: ({ record }) => change(record, (old) => ({ ...old, id: "another" })),
    says: /the record of plan another/,
    isLost: true,
  },
  {
    id: "record-loop",
    breaks({ record }) {
      unlinkSync(record);
      symlinkSync(record, record);
    },
    says: /ELOOP/,
    isLost: true,
  },
  {
    id: "exit-folder",
    breaks({ run }) {
      interrupt(run);
      mkdirSync(join(run, "exit.json"));
    },
    says: /could not be dealt with: EISDIR.*unblock exit-folder/s,
  },
  {
    id: "request-folder",
    breaks({ run }) {
      interrupt(run);
      rmSync(join(run, "request.json"));
      mkdirSync(join(run, "request.json"));
    },
    says: /could not be dealt with: EISDIR/,
  },
  {
    id: "process-garbage",
    breaks({ run }) {
      interrupt(run);
      writeFileSync(join(run, "process.json"), '{"pid":"x');
    },
  },
  {
    id: "runs-file",
    breaks({ home }) {
      rmSync(join(home, "runs"), { recursive: true });
      writeFileSync(join(home, "runs"), "not a folder");
    },
  },
  {
    id: "login-deep",
    breaks({ home, run }) {
      const own = join(home, "private");
      mkdirSync(join(own, ".claude"), { recursive: true });
      mkdirSync(`${own}.beside`);
      const from = join(home, "login.json");
      writeFileSync(from, "{}");
      writeFileSync(join(own, ".claude", "x.json"), DEEP);
      const login = { from, to: ".claude/x.json", hash: "0" };
      const agent = { adapter: "claude", command: "claude" };
      writeFileSync(join(`${own}.beside`, "logins.json"), JSON.stringify({ agent, logins: [login] }));
      writeFileSync(join(run, "private-home"), own);
    },
  },
  {
    id: "login-folder",
    breaks: ({ run }) => mkdirSync(join(run, "private-home")),
  },
  {
    id: "shadow-deep",
    breaks({ run }) {
      const script = 'chdir $ARGV[0] or die; for (1..6000) { mkdir "deep" or die; chdir "deep" or die }';
      mkdirSync(join(run, "shadow"));
      execFileSync("perl", ["-e", script, join(run, "shadow")]);
    },
  },
  {
    id: "shadow-bytes",
    breaks({ run }) {
      mkdirSync(join(run, "shadow"));
      execFileSync("perl", [
        "-e",
        'chdir $ARGV[0]; mkdir "\\xff\\xfe"; mkdir "\\xff\\xfe/in"; chmod 0, "\\xff\\xfe"',
        join(run, "shadow"),
      ]);
    },
  },
  {
    id: "kept-garbage",
    breaks({ home }) {
      mkdirSync(join(home, "runs", "hooks", "one"), { recursive: true });
      writeFileSync(join(home, "runs", "hooks", "one", "kept.json"), "{ half");
    },
    says: /kept\.json.*remove .*kept\.json/s,
  },
  {
    id: "worktree-gone",
    breaks: ({ worktree }) => rmSync(worktree, { recursive: true }),
    says: /worktree is missing/,
  },
  {
    id: "worktree-file",
    breaks({ worktree }) {
      rmSync(worktree, { recursive: true });
      writeFileSync(worktree, "a file");
    },
    says: /worktree is broken/,
  },
  {
    id: "worktree-link",
    breaks({ worktree }) {
      rmSync(worktree, { recursive: true });
      symlinkSync("/", worktree);
    },
    says: /worktree is broken/,
  },
  { id: "half-made", breaks: ({ record }) => change(record, (old) => ({ ...old, worktreeReady: false })) },
  {
    id: "bus-torn",
    breaks({ home }) {
      rmSync(join(home, "bus"), { recursive: true, force: true });
      mkdirSync(join(home, "bus", "events.jsonl"), { recursive: true });
    },
    says: /EISDIR|cannot be/,
  },
  {
    id: "bus-state",
    breaks({ home }) {
      rmSync(join(home, "bus"), { recursive: true, force: true });
      mkdirSync(join(home, "bus", "state", "dispatcher.json"), { recursive: true });
    },
    says: /EISDIR|cannot be/,
  },
  {
    id: "blobs-file",
    breaks({ home }) {
      rmSync(join(home, "bus", "blobs"), { recursive: true, force: true });
      writeFileSync(join(home, "bus", "blobs"), "a file");
    },
  },
  {
    id: "temporary-folder",
    breaks: ({ home }) => mkdirSync(join(home, ".state.json.1-0.1.tmp")),
  },
  {
    id: "plugin-state-file",
    breaks({ home }) {
      rmSync(join(home, "plugin-state"), { recursive: true, force: true });
      writeFileSync(join(home, "plugin-state"), "a file");
    },
  },
  {
    id: "text-folder",
    breaks({ home }) {
      rmSync(join(home, "plan.md"));
      mkdirSync(join(home, "plan.md"));
    },
    says: /plan\.md is missing or unreadable/,
  },
  {
    id: "memory-pending",
    breaks({ home }) {
      rmSync(join(home, "bus"), { recursive: true, force: true });
      mkdirSync(join(home, "bus", "settled.jsonl"), { recursive: true });
      const pending = join(home, "..", "..", "plugin-state-global", ".pending");
      mkdirSync(pending, { recursive: true });
      writeFileSync(join(pending, "memory-pending"), "");
    },
    says: /EISDIR|cannot be/,
  },
  {
    id: "deleted-half",
    breaks({ record, worktree }) {
      change(record, (old) => ({ ...old, deleted: { at: new Date(0).toISOString(), reason: "deleted" } }));
      rmSync(worktree, { recursive: true });
      symlinkSync("/nowhere", worktree);
    },
    isLost: true,
  },
];

describe("what one plan left", { timeout: 600_000 }, () => {
  let project: Project;
  before(async () => {
    project = makeProject({ config: { limits: { maxOpenPlans: 100, maxRunningAgents: 4 } } });
    for (const { id } of BROKEN) project.plan(id, ["one"]);
    const result = await project.work();
    assert.equal(result.code, 0, result.stderr);
    for (const { id, breaks } of BROKEN) {
      const home = join(project.authority, "plans", id);
      const worktree = project.record(id).worktree ?? "";
      breaks({ home, worktree, run: join(home, "runs", "1"), record: join(home, "state.json") });
    }
    for (const cache of ["plans-index.json", "text-cache.json", "inbox-cache.json"]) {
      rmSync(join(project.authority, cache), { force: true });
      mkdirSync(join(project.authority, cache));
    }
    writeFileSync(join(project.inbox, "not a plan.md"), "x");
    mkdirSync(join(project.inbox, "folder.md"));
    project.plan("good", ["one", "two"]);
  });
  after(() => {
    execFileSync("rm", ["-rf", join(project.root, "..")]);
  });

  test("keeps no other plan from working, at this start and at the next", async () => {
    for (const todos of [["one", "two"], ["one", "two"]]) {
      const { code, stderr, stdout } = await project.work();
      assert.equal(code, 0, `${stderr}${stdout}`);
      assert.equal(project.record("good").status, "review", stdout);
      assert.deepEqual(project.commits("good"), todos);
    }
    const status = await project.cli(["status"]);
    assert.equal(status.code, 0, status.stderr);
    for (const { id, says } of BROKEN) {
      if (says) assert.match(about(await project.status(), id), says, id);
    }
  });

  test("does not hold up the plan itself where only disk space is lost", async () => {
    for (const { id, says, isLost } of BROKEN) {
      if (says || isLost) continue;
      const { status, blocked } = project.record(id);
      assert.deepEqual([status, blocked], ["review", undefined], id);
    }
    assert.equal(existsSync(join(project.authority, "plans/shadow-deep/runs/1/shadow")), false);
    assert.equal(existsSync(join(project.authority, "plans/shadow-bytes/runs/1/shadow")), false);
  });

  test("is tried again at unblock, which says what is still wrong, and lets the plan go on when nothing is", async () => {
    const exit = join(project.authority, "plans/exit-folder/runs/1/exit.json");
    const refused = await project.cli(["unblock", "exit-folder"]);
    assert.equal(refused.code, 1, refused.stdout);
    assert.match(refused.stderr, /EISDIR.*\[recovery-failed\]/);
    assert.equal(project.record("exit-folder").blocked?.cause, "recovery");
    rmSync(exit, { recursive: true });
    const done = await project.cli(["unblock", "exit-folder"]);
    assert.equal(done.code, 0, done.stderr);
    assert.equal(project.record("exit-folder").blocked, undefined);
  });

  test("is dealt with by the next start by itself once it can be", async () => {
    rmSync(join(project.authority, "plans/request-folder/runs/1/request.json"), { recursive: true });
    const { code, stdout } = await project.work();
    assert.equal(code, 0);
    assert.match(stdout, /request-folder .*cleared up/);
    assert.equal(project.record("request-folder").blocked, undefined);
  });

  test("does not keep it from being deleted", async () => {
    for (const { id, isLost } of BROKEN) {
      if (isLost) continue;
      const { code, stdout, stderr } = await project.cli(["delete", id, "--yes"]);
      assert.equal(code, 0, `${id}: ${stderr}`);
      assert.match(stdout, new RegExp(`deleted ${id}`));
      assert.equal(existsSync(project.record(id).worktree ?? "/"), false, id);
    }
  });
});

/** All that `status` says about a plan: its block and hint, or a problem that names it. */
function about(status: Awaited<ReturnType<Project["status"]>>, id: string): string {
  const plan = status.plans.find(({ planId }) => planId === id);
  const problems = status.problems.filter(({ file }) => file.includes(`plans/${id}`));
  return JSON.stringify([plan, problems]).replaceAll("\\n", "\n");
}

test("a folder that nobody may read, of an ordinary user, keeps no other plan from working", async (context) => {
  if (process.getuid?.() !== 0) return context.skip("needs root to become an ordinary user");
  chmodSync;
});
