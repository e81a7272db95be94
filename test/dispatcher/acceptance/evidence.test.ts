import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { keepEvidence } from "../../../src/dispatcher/acceptance/evidence.ts";
import { EVIDENCE } from "../../../src/dispatcher/paths.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-evidence-"));
after(() => rmSync(root, { recursive: true, force: true }));

const MB = 1024 ** 2;

test("of evidence without end some megabytes are kept, and small files though large ones came before", async () => {
  const [worktree, runDir] = [join(root, "tree"), join(root, "run")];
  mkdirSync(join(worktree, EVIDENCE), { recursive: true });
  // They cost the agent nothing.
  for (let number = 10; number < 50; number += 1) {
    const file = join(worktree, EVIDENCE, `large-${number}`);
    writeFileSync(file, "");
    truncateSync(file, 4.5 * MB);
  }
  writeFileSync(join(worktree, EVIDENCE, "small"), "seen\n");
  await keepEvidence(worktree, runDir);
  const names = readdirSync(join(runDir, "evidence"));
  const bytes = names.reduce((sum, name) => sum + statSync(join(runDir, "evidence", name)).size, 0);
  assert.ok(bytes > 4.5 * MB && bytes <= 20 * MB, `${bytes} bytes`);
  assert.ok(names.includes("small"), names.join());
});
