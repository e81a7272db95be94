import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { userInfo } from "node:os";
import { test } from "node:test";
import { homeFolder, ownUser } from "../../../src/kernel/system/user.ts";

test("the user is who the system says", () => {
  const { uid, username, homedir } = userInfo();
  assert.deepEqual(ownUser({ USER: "another" }), { uid, name: username, home: homedir });
});

test("a uid that the system does not know has the name of the environment, or its number", (t) => {
  if (process.getuid?.() !== 0) return t.skip("only root can become another user");
  assert.deepEqual(askedAsUnknown("ownUser()", { HOME: "/nonexistent" }), { uid: 54_321, name: "54321" });
  assert.deepEqual(askedAsUnknown("ownUser()", { HOME: "/nonexistent", USER: "ci" }), { uid: 54_321, name: "ci" });
});

/** What a function of user.ts tells a process whose uid the system does not know. */
function askedAsUnknown(call: string, env: Record<string, string>): unknown {
  const module = new URL("../../../src/kernel/system/user.ts", import.meta.url).href;
  const script = `const { ownUser, homeFolder } = await import(${JSON.stringify(module)}); console.log(JSON.stringify(${call}));`;
  const options = { uid: 54_321, gid: 54_321, cwd: "/", encoding: "utf8", env } as const;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", script], options));
}

test("the home is that of the environment, else of the system, and a folder that is not there where neither has one", (t) => {
  assert.equal(homeFolder({ HOME: "/some/where" }), "/some/where");
  assert.equal(homeFolder({ HOME: "relative" }), process.env.HOME ?? userInfo().homedir);
  if (process.getuid?.() !== 0) return t.skip("only root can become another user");
  assert.equal(askedAsUnknown("homeFolder(process.env)", {}), "/nonexistent");
  assert.equal(askedAsUnknown("homeFolder(process.env)", { HOME: "/srv/ci" }), "/srv/ci");
});
