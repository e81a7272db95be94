import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { fresh } from "../fixtures/checkouts.ts";

const WATCH = fileURLToPath(new URL("../fixtures/note-syncs.ts", import.meta.url));

test("no branch is made, no agent started and no file of the inbox deleted before the records are on the disk", async () => {
  const project = fresh();
  project.plan("p", ["one", "two"]);
  const log = join(project.home, "syncs");
  const done = await project.work({ NODE_OPTIONS: `--import=${WATCH}`, NOTE_SYNCS: log });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(project.record("p").status, "review");
  const seen = readFileSync(log, "utf8").trim().split("\n");
  assert.deepEqual(seen, ["branch 0", "inbox 0", "inbox 0", "agent 0", "agent 0"]);
});
