import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeProject } from "../../../testing/project.ts";
import { thorough } from "../../../testing/thorough.ts";

const DCO_HOOK = `#!/bin/sh\ngrep -q '^Signed-off-by: Ada <ada@example.test>$' "$1"\n`;

describe("commit.signoff", { concurrency: 2 }, () => {
  for (const hooked of [false, true]) {
    const options = hooked ? {} : thorough;
    it(`signs each commit off once${hooked ? ", and hooks that look for it see it" : ""}`, options, async (t) => {
      const project = makeProject({ config: { commit: { signoff: true } } });
      t.after(() => project.remove());
      project.git("config", "user.name", "Ada");
      project.git("config", "user.email", "ada@example.test");
      const hook = join(project.root, ".git", "hooks", "commit-msg");
      if (hooked) writeFileSync(hook, DCO_HOOK);
      if (hooked) chmodSync(hook, 0o755);
      project.plan("dark", ["make one", "make two"]);
      await project.work();
      const format = "--format=%(trailers:key=Signed-off-by,valueonly)%(trailers:key=Prloom-Step,valueonly)";
      const log = project.git("log", format, "main..prloom/dark").trim();
      assert.match(log, /^(Ada <ada@example\.test>\n\S+\/\S+\/1\n*){2}$/);
      assert.equal((await project.cli(["merge", "dark"])).code, 0);
      assert.equal(
        project.git("log", "-1", "--format=%(trailers:key=Signed-off-by,valueonly)", "main").trim(),
        "Ada <ada@example.test>",
      );
    });
  }

  it("commits nothing where git does not know the person, and says so", thorough, async (t) => {
    const project = makeProject({ config: { commit: { signoff: true } } });
    t.after(() => project.remove());
    project.plan("dark", ["make one"]);
    await project.work();
    assert.deepEqual(project.commits("dark"), []);
    assert.match(project.record("dark").blocked?.reason ?? "", /git does not know your name/);
  });
});
