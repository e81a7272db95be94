import assert from "node:assert/strict";
import { after, test } from "node:test";
import { testRepository } from "../fixture.ts";

const { run, close } = testRepository();
after(() => close());

test("several plans are deleted at once, and one that is not there keeps no other from it", async () => {
  for (const id of ["first", "second"]) assert.equal((await run(["new", id, "--id", id])).code, 0);
  const { code, stdout, stderr } = await run(["delete", "first", "nowhere", "second"]);
  assert.equal(code, 1);
  assert.match(stderr, /nowhere[\s\S]*\[plan-not-found\]/);
  assert.match(stdout, /deleted first\.[\s\S]*deleted second\./);
  for (const id of ["first", "second"]) assert.equal((await run(["show", id])).code, 1);
});

test("a title without Latin letters gives an id of its own, and the same title the same one", async () => {
  const made = async (title: string): Promise<string> => JSON.parse((await run(["new", title, "--json"])).stdout).plan;
  const first = await made("ログイン画面を作る");
  assert.match(first, /^plan-[0-9a-f]{6}$/);
  assert.notEqual(await made("検索を速くする"), first);
  assert.equal(await made("ログイン画面を作る"), `${first}-2`);
});
