import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { candidatesFor } from "../../../src/cli/completion/candidates.ts";
import { SCRIPTS } from "../../../src/cli/completion/scripts.ts";
import { createProgram } from "../../../src/cli/program.ts";
import { CLI, NODE_FLAGS } from "../../testing/program.ts";
import { testRepository } from "../fixture.ts";

const repository = testRepository();
after(() => repository.close());

const plans = () => Promise.resolve(["login", "logout", "search"].map((word) => ({ word, about: "plan" })));

describe("completion", { concurrency: 2 }, () => {
  const table: [typed: string, expected: string[]][] = [
    ["sta", ["start", "status"]],
    ["comp", ["completion"]],
    ["help uns", []],
    ["help unh", ["unhide"]],
    ["show lo", ["login", "logout"]],
    ["queue login lo", ["login", "logout"]],
    ["show login ", []],
    ["--json show se", ["search"]],
    ["ls --st", ["--status", "--stale"]],
    ["status --status dr", ["draft"]],
    ["new --file ", []],
    ["comment --todo 2 lo", ["login", "logout"]],
    ["completion ", ["bash", "zsh", "fish"]],
    ["nonsense ", []],
  ];
  for (const [typed, expected] of table)
    it(`of ${JSON.stringify(typed)}`, async () => {
      const found = await candidatesFor(createProgram(), typed.split(" "), plans);
      assert.deepEqual(
        found.map(({ word }) => word),
        expected,
      );
    });

  it("works in a real bash", async () => {
    for (const title of ["Search", "Sort"]) assert.equal((await repository.run(["new", title])).code, 0);
    const script = join(repository.root, "completion.sh");
    writeFileSync(script, (await repository.run(["completion", "bash"])).stdout);
    const typed = `
      prloom() { ${[process.execPath, ...NODE_FLAGS, CLI].map((word) => `'${word}'`).join(" ")} "$@"; }
      . ${script}
      COMP_WORDS=(prloom show s) COMP_CWORD=2
      _prloom
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const said = execFileSync("bash", ["-c", typed], { cwd: repository.root, encoding: "utf8" });
    assert.deepEqual(said.trim().split("\n").sort(), ["search", "sort"]);
  });

  for (const shell of ["bash", "zsh", "fish"] as const) {
    const isHere = spawnSync(shell, ["--version"]).status === 0;
    it(`is what ${shell} can read`, { skip: isHere ? false : `${shell} is not installed` }, () => {
      const file = join(repository.root, `completion.${shell}`);
      writeFileSync(file, SCRIPTS[shell]);
      const { status, stderr } = spawnSync(shell, ["-n", file], { encoding: "utf8" });
      assert.equal(status, 0, stderr);
    });
  }
});
