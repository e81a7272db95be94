import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { candidatesFor } from "../../../src/cli/completion/candidates.ts";
import { SCRIPTS } from "../../../src/cli/completion/scripts.ts";
import { createProgram } from "../../../src/cli/program.ts";
import { CLI, NODE_FLAGS } from "../../testing/program.ts";
import { testRepository } from "../fixture.ts";

const repository = testRepository();
after(() => repository.close());

const missing = (shell: string) => spawnSync(shell, ["--version"]).status !== 0 && `${shell} is not installed`;
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

  /** A program of that name in a folder of its own, as a checkout has it. */
  function program(): string {
    const file = join(repository.root, ".git", "bin", "prloom");
    mkdirSync(dirname(file), { recursive: true });
    const words = [process.execPath, ...NODE_FLAGS, CLI].map((word) => `'${word}'`).join(" ");
    writeFileSync(file, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
    return file;
  }

  it("works in a real zsh, for an alias too", { skip: missing("zsh") }, async () => {
    assert.equal((await repository.run(["new", "Zebra"])).code, 0);
    const script = join(repository.root, "_prloom");
    writeFileSync(script, SCRIPTS.zsh);
    // An alias is known to the shell that a person types in, and not to its completions.
    const typed = `
      zmodload zsh/zpty
      zpty z zsh -f -i
      zpty -w z 'autoload -Uz compinit; compinit -u -D; alias prloom=${program()}; . ${script}; print rea""dy'
      zpty -r z said '*ready*'
      zpty -w -n z $'prloom show zeb\\t'
      zpty -r z said '*zebra*'
      print completed`;
    const { stdout } = spawnSync("zsh", ["-f", "-c", typed], {
      ...{ cwd: repository.root, encoding: "utf8", timeout: 60_000, killSignal: "SIGKILL" },
    });
    assert.equal(stdout.trim(), "completed");
  });

  it("works in a real fish", { skip: missing("fish") }, async () => {
    assert.equal((await repository.run(["new", "Fish food"])).code, 0);
    const script = join(repository.root, "prloom.fish");
    writeFileSync(script, SCRIPTS.fish);
    const typed = `alias prloom=${program()}; source ${script}; complete -C "prloom show fi"; complete -C "prloom new --file fi"`;
    writeFileSync(join(repository.root, "file.md"), "");
    const said = execFileSync("fish", ["--no-config", "-c", typed], { cwd: repository.root, encoding: "utf8" });
    assert.deepEqual(said.trimEnd().split("\n"), ["fish-food\tplan", "file.md"], "files only where nothing else fits");
  });

  for (const shell of ["bash", "zsh", "fish"] as const) {
    it(`is what ${shell} can read`, { skip: missing(shell) }, () => {
      const file = join(repository.root, `completion.${shell}`);
      writeFileSync(file, SCRIPTS[shell]);
      const { status, stderr } = spawnSync(shell, ["-n", file], { encoding: "utf8" });
      assert.equal(status, 0, stderr);
    });
  }
});
