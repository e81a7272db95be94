import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { userInfo } from "node:os";
import { test } from "node:test";
import { ownUser } from "../../src/kernel/user.ts";

test("the user is who the system says", () => {
  const { uid, username, homedir } = userInfo();
  assert.deepEqual(ownUser({ USER: "another" }), { uid, name: username, home: homedir });
});

test("a uid that the system does not know has the name of the environment, or its number", (t) => {
  if (process.getuid?.() !== 0) return t.skip("only root can become another user");
  const module = new URL("../../src/kernel/user.ts", import.meta.url).href;
  const script = `const { ownUser } = await import(${JSON.stringify(module)}); console.log(JSON.stringify(ownUser()));`;
  const asked = (env: Record<string, string>): unknown =>
    JSON.parse(
      execFileSync(process.execPath, ["--input-type=module", "-e", script], {
        ...{ uid: 54_321, gid: 54_321, cwd: "/", encoding: "utf8" as const },
        env: { ...env, HOME: "/nonexistent" },
      }),
    );
  assert.deepEqual(asked({}), { uid: 54_321, name: "54321" });
  assert.deepEqual(asked({ USER: "ci" }), { uid: 54_321, name: "ci" });
});
