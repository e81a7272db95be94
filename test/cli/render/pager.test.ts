import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const SCRIPT = `
import { page } from ${JSON.stringify(import.meta.resolve("../../../src/cli/render/pager.ts"))};
import { distrustPrograms } from ${JSON.stringify(import.meta.resolve("../../../src/kernel/system/find-program.ts"))};
distrustPrograms([process.cwd()]);
await page(process.cwd(), "a patch\\n");
`;

test("a patch is shown with programs of the person, and with none of the checkout", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "prloom-pager-")));
  const bin = join(root, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  for (const name of ["git", "sh", "sed"])
    writeFileSync(join(bin, name), `#!/bin/sh\necho ran > '${join(root, name)}'\n`, { mode: 0o755 });
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, GIT_PAGER: "sed 's/^/paged: /'" };
  const shown = spawnSync(process.execPath, ["--input-type=module", "-e", SCRIPT], {
    cwd: root,
    env,
    encoding: "utf8",
  });
  assert.equal(shown.stdout, "paged: a patch\n", shown.stderr);
  for (const name of ["git", "sh", "sed"]) assert.equal(existsSync(join(root, name)), false, name);
  rmSync(root, { recursive: true });
});
