import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { forEditor } from "../../../src/cli/changing/editor.ts";
import { testRepository } from "../fixture.ts";

const { root, run, close } = testRepository();
after(() => close());

test("no editor is taken from the checkout, of which npx puts folders into PATH", async () => {
  const bin = join(root, "planted");
  mkdirSync(bin);
  writeFileSync(join(bin, "ed-planted"), "#!/bin/sh\n", { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env.PATH}`, EDITOR: "ed-planted" };
  await run(["new", "A plan", "--id", "one", "--todo", "a"]);
  for (const args of [["edit", "one"], ["new"]])
    assert.match((await run(args, { env })).stderr, /The editor \(ed-planted\) failed/, args[0]);
});

test("where the text is kept is told once, of an editor that fails at a conflict too", async () => {
  const edited = forEditor("false", "plan", "first");
  try {
    await assert.rejects(
      edited.keeping(() => edited.open("both")),
      ({ message }: Error) => message.split(edited.file).length === 2,
    );
    assert.equal(edited.text(), "both");
  } finally {
    edited.remove();
  }
});
