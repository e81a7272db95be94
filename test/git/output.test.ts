import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { GitResult, lined } from "../../src/git/output.ts";
import { git } from "../../src/git/run.ts";
import { sandbox } from "./fixture.ts";

/** How many turns others have while this goes on. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  let turns = 0;
  const done = work.finally(() => {
    isOver = true;
  });
  for (; !isOver; turns += 1) await setImmediate();
  await done;
  return turns;
}

const ended = { stderr: "", code: 0 };
const of = (text: string, encoding: "utf8" | "latin1", size: number) => {
  const bytes = Buffer.from(text, encoding);
  const count = Math.ceil(bytes.length / size);
  const chunks = Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
  return new GitResult(ended, chunks, encoding);
};

for (const encoding of ["utf8", "latin1"] as const)
  for (const [text, entries] of [
    ["", []],
    ["a\0b\0", ["a", "b"]],
    ["ä/ö\0\0no end", ["ä/ö", "", "no end"]],
  ] as const)
    test(`${encoding}: the entries of ${JSON.stringify(text)} are the same wherever its bytes were cut`, async () => {
      for (const size of [1, 2, 3, 100]) {
        assert.deepEqual(await of(text, encoding, size).entries(), entries);
        assert.equal(of(text, encoding, size).stdout, text);
      }
    });

test("others have their turn while a long list of names is read", async () => {
  const listed = of("some/file\0".repeat(2_000_000), "latin1", 65_536);
  const turns = await turnsDuring(listed.entries());
  assert.ok(turns > 2, `${turns} turns`);
});

test("others have their turn while a long list of names is written", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const deep = `${"folder/".repeat(300)}file`;
  const paths = Array.from({ length: 20_000 }, (_, index) => `c${index}/${deep}`);
  const pieces = [...lined(paths)];
  assert.equal(pieces.join(""), paths.map((path) => `${path}\0`).join(""));
  assert.ok(pieces.every((piece) => piece.length < 65_536 + 3000));
  let turns = 0;
  let isWritten = false;
  const counted = function* () {
    yield* pieces;
    isWritten = true;
  };
  const writing = git(["hash-object", "--stdin"], { cwd: box.repo.root, input: counted(), encoding: "latin1" });
  for (; !isWritten; turns += 1) await setImmediate();
  const { stdout } = await writing;
  const whole = await git(["hash-object", "--stdin"], { cwd: box.repo.root, input: pieces.join("") });
  assert.equal(stdout, whole.stdout);
  assert.ok(turns > 2, `${turns} turns`);
});

test("a git that ends before it has read its input is judged by how it ended", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const input = Array.from({ length: 500 }, () => "x".repeat(65_536));
  await assert.rejects(git(["no-such-command"], { cwd: box.repo.root, input }), { code: "git-failed" });
});
