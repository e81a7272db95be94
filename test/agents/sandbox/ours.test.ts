import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { sandboxArgs } from "../../../src/agents/sandbox/args.ts";
import { layoutSandbox, OURS_AT, type SandboxPlan } from "../../../src/agents/sandbox/layout.ts";
import { probeSandbox } from "../../../src/agents/sandbox/probe.ts";

function planIn(root: string, ours: SandboxPlan["ours"]): SandboxPlan {
  const folder = (name: string): string => {
    mkdirSync(join(root, name), { recursive: true });
    return join(root, name);
  };
  const file = (name: string): string => {
    writeFileSync(join(root, name), "");
    return join(root, name);
  };
  const objects = folder("repository/.git/objects");
  const worktree = folder("worktree");
  writeFileSync(join(worktree, ".git"), "");
  folder("shadow/real-objects");
  folder("home/.cache");
  return {
    home: { path: folder("home"), from: folder("home") },
    cache: folder("cache"),
    hidden: [],
    sealed: [],
    secret: [],
    repository: {
      root: folder("repository"),
      commonDir: folder("repository/.git"),
      objects,
      objectsAt: join(root, "repository/.git/real-objects"),
      alternates: [],
      hasAlternates: false,
      shadow: folder("shadow"),
      emptyFile: file("empty"),
    },
    worktree: { path: worktree, from: worktree, gitFile: file("git-file") },
    masked: [],
    agentDir: folder("agent"),
    blank: [],
    places: [],
    configuration: [],
    ...(ours === undefined ? {} : { ours }),
  };
}

const LOOKS = `
set -u
cat "$FOLDER/policy.json"
"$PROGRAM" it
for attempt in 'echo x > "$FOLDER/policy.json"' 'echo x > "$FOLDER/new"' 'rm -f "$FOLDER/policy.json"' \\
  'mv "$FOLDER" /run/elsewhere' 'rmdir "$FOLDER"' 'echo x > "$PROGRAM"' 'rm -f "$PROGRAM"' 'mv "$PROGRAM" /run/other' \\
  'mv /run /elsewhere' 'umount "$FOLDER"'; do
  if (eval "$attempt") 2> /dev/null; then echo "done: $attempt"; fi
done
cat "$FOLDER/policy.json"
`;

test("a folder and a program of ours are seen from inside, and nothing in there can change or replace them", async (context) => {
  const probe = await probeSandbox();
  if (!probe.works) return context.skip(probe.why);
  const root = mkdtempSync(join(tmpdir(), "prloom-ours-"));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const ours = { folder: join(root, "ours"), program: join(root, "program") };
  mkdirSync(ours.folder);
  writeFileSync(join(ours.folder, "policy.json"), "first\n");
  writeFileSync(ours.program, '#!/bin/sh\necho "ran with $1"\n');
  chmodSync(ours.program, 0o755);
  const env = { PATH: process.env.PATH ?? "", FOLDER: OURS_AT.folder, PROGRAM: OURS_AT.program };
  const look = (plan: SandboxPlan, script: string): string => {
    const features = { ...probe.features, filters: false };
    const args = [...sandboxArgs(layoutSandbox(plan), features, totalmem()), "--", "/bin/sh", "-c", script];
    const { stdout, stderr } = spawnSync("bwrap", args, { env, encoding: "utf8", cwd: "/" });
    return stdout + stderr;
  };
  assert.equal(look(planIn(root, ours), LOOKS), "first\nran with it\nfirst\n");
  assert.equal(readFileSync(join(ours.folder, "policy.json"), "utf8"), "first\n");
  // Replaced outside by a rename, as we write files: the next look sees it.
  writeFileSync(join(ours.folder, "next"), "second\n");
  renameSync(join(ours.folder, "next"), join(ours.folder, "policy.json"));
  assert.equal(look(planIn(root, { folder: ours.folder }), 'cat "$FOLDER/policy.json"; ls /run'), "second\nprloom\n");
  assert.doesNotMatch(look(planIn(root, undefined), "ls -d /run/prloom /run/prloom-program"), /^\/run\/prloom/m);
});
