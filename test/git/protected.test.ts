import assert from "node:assert/strict";
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { clearHostSettings, restoreProtected, stageAll, stagedChanges } from "../../src/git/stage.ts";
import { BASE_FILES, planSandbox, type Sandbox, write } from "./fixture.ts";

const boxes: Sandbox[] = [];
after(() => {
  for (const box of boxes) box.close();
});

const FILES = {
  ...BASE_FILES,
  ".gitignore": "ignored/\n.claude/settings.local.json\n",
  ".claude/settings.json": '{"base": true}\n',
  "opencode.json": "{}\n",
};
async function planned() {
  const box = await planSandbox(FILES);
  boxes.push(box);
  const { path } = box.worktree;
  return { ...box, path, read: (file: string) => readFileSync(join(path, file), "utf8") };
}

/** What an agent does to settings of agent programs, each alone. */
const CHANGES: Readonly<Record<string, (path: string) => void>> = {
  "changes a file": (path) => write(path, { ".claude/settings.json": "{}" }),
  "adds a file": (path) => write(path, { ".claude/hooks/evil.sh": "" }),
  "adds one that git ignores": (path) => write(path, { ".claude/settings.local.json": "{}" }),
  "adds a folder": (path) => write(path, { ".opencode/plugin/evil.js": "" }),
  "adds a server": (path) => write(path, { ".mcp.json": "{}" }),
  "adds settings of others": (path) => write(path, { ".gemini/settings.json": "", ".codex/config.toml": "" }),
  "adds the other spelling": (path) => write(path, { "opencode.jsonc": "" }),
  "removes a file": (path) => rmSync(join(path, "opencode.json")),
  "removes a folder": (path) => rmSync(join(path, ".claude"), { recursive: true }),
  "makes a link of a folder": (path) => {
    rmSync(join(path, ".claude"), { recursive: true });
    mkdirSync(join(path, "elsewhere"));
    symlinkSync("elsewhere", join(path, ".claude"));
  },
  "makes a repository of a folder": (path) => write(path, { ".opencode/.git/HEAD": "ref: refs/heads/x\n" }),
};

for (const [what, change] of Object.entries(CHANGES)) {
  test(`an agent that ${what}: not committed, and put back`, async () => {
    const box = await planned();
    change(box.path);
    write(box.path, { "work.txt": "work\n" });
    const { protectedChanged } = await stageAll(box.worktree);
    assert.equal(protectedChanged, true);
    assert.deepEqual((await stagedChanges(box.worktree, box.baseSha)).files, ["work.txt"]);
    await restoreProtected(box.worktree);
    assert.equal((await stageAll(box.worktree)).protectedChanged, false);
    assert.equal(box.read(".claude/settings.json"), FILES[".claude/settings.json"]);
    assert.ok(lstatSync(join(box.path, ".claude")).isDirectory());
    for (const added of [
      ".opencode",
      ".mcp.json",
      ".gemini",
      ".codex",
      "opencode.jsonc",
      ".claude/settings.local.json",
    ])
      assert.equal(existsSync(join(box.path, added)), false, added);
    assert.equal(box.read("work.txt"), "work\n");
  });
}

test("files of the user that were copied in are neither a change nor removed", async () => {
  const box = await planned();
  write(box.path, { ".claude/settings.local.json": "{}", ".gemini/settings.json": "{}" });
  const copied = [".claude/settings.local.json", ".gemini"];
  assert.equal((await stageAll(box.worktree, copied)).protectedChanged, false);
  await restoreProtected(box.worktree, copied);
  assert.equal(box.read(".claude/settings.local.json"), "{}");
  assert.equal(box.read(".gemini/settings.json"), "{}");
  await clearHostSettings(box.worktree);
  assert.equal(existsSync(join(box.path, ".gemini")), false);
  assert.equal(box.read(".claude/settings.json"), FILES[".claude/settings.json"]);
});

test("names that only look alike are ordinary files", async () => {
  const box = await planned();
  write(box.path, { ".claude-notes/a": "", "docs/.claude/a": "", "my-opencode.json": "" });
  assert.equal((await stageAll(box.worktree)).protectedChanged, false);
  const { files } = await stagedChanges(box.worktree, box.baseSha);
  assert.deepEqual(files, [".claude-notes/a", "docs/.claude/a", "my-opencode.json"]);
});
