import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createProgram } from "../../src/cli/program.ts";
import { someOf } from "../testing/sample.ts";
import { testRepository } from "./fixture.ts";

const repository = testRepository();
after(() => repository.close());

const COMMANDS =
  "init new start stop reload status show diff tasks anchors logs events gates rules explain approve reject revise withdraw mcp queue hide unhide edit block unblock pause resume delete clean comment send open rebase merge import poll retry doctor demo completion complete".split(
    " ",
  );

describe("help", { concurrency: 2 }, () => {
  it("knows every command", () => {
    assert.deepEqual(
      createProgram()
        .commands.map((command) => command.name())
        .sort(),
      [...COMMANDS].sort(),
    );
  });

  for (const name of COMMANDS) {
    it(`of ${name} has an example and --json`, () => {
      let text = "";
      const command = createProgram().commands.find((candidate) => candidate.name() === name);
      command?.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
      assert.match(text, new RegExp(`Examples:\\n +\\$ prloom ${name}`));
      for (const [line] of text.matchAll(/^ +\$ .*/gm)) assert.match(line, /prloom [a-z]/, line);
      assert.match(text, /--json/);
    });
  }

  it("of a command is the same when only the commands of its kind are declared", () => {
    for (const name of COMMANDS.filter((one) => one !== "complete")) {
      const [some, all] = [createProgram(name), createProgram()];
      const helpOf = ({ commands }: typeof all) =>
        commands.find((command) => command.name() === name)?.helpInformation();
      assert.equal(helpOf(some), helpOf(all), name);
      assert.ok(some.commands.length < all.commands.length / 2, name);
    }
    for (const name of ["statsu", "complete"]) assert.equal(createProgram(name).commands.length, COMMANDS.length);
  });

  it("is printed for a command that is asked for it, with lines that can be typed", async () => {
    const { code, stdout } = await repository.run(["help", "new"]);
    assert.equal(code, 0);
    assert.match(stdout, /^ {2}\$ cat plan\.md \| prloom new --stdin/m);
  });

  it("is shown when nothing is asked for", async () => {
    const { code, stdout } = await repository.run([]);
    assert.equal(code, 0);
    assert.match(stdout, /Usage: prloom/);
  });

  it("takes --json before a command, and ls for status", async () => {
    const { code, stdout } = await repository.run(["--json", "ls"]);
    assert.equal(code, 0);
    assert.ok(Array.isArray(JSON.parse(stdout).plans));
  });

  it("has the version of package.json", async () => {
    const { code, stdout } = await repository.run(["--version"]);
    assert.equal(code, 0);
    assert.match(stdout, /^\d+\.\d+\.\d+\S*\n$/);
  });
});

describe("a wrong call", { concurrency: 2 }, () => {
  const calls: [string, RegExp][] = [
    ["statsu", /Did you mean status\?/],
    ["status --jsno", /Did you mean --json\?/],
    ["status --status nonsense", /draft, queued/],
    ["status --stale 5", /90s/],
    ["status extra", /too many arguments/],
    ["show", /missing required argument 'plan'/],
    ["completion", /missing required argument 'shell'[\s\S]*hint: One of bash, zsh, fish\. `prloom completion --help`/],
    ["logs", /prloom logs --help/],
    ["logs x --run zero", /whole number/],
    ["logs x --tail -1", /whole number/],
    ["send", /missing required argument/],
    ["open", /missing required argument/],
    ["events --log nonsense", /quarantine/],
    ["queue", /missing required argument/],
    ["block only-a-plan", /missing required argument 'reason'/],
    ["unblock", /missing required argument/],
    ["delete", /missing required argument/],
    ["clean one two", /too many arguments/],
    ["edit", /missing required argument/],
    ["comment", /missing required argument/],
    ["comment x --todo 0 words", /whole number/],
    ["merge", /missing required argument/],
    ["rebase", /missing required argument/],
    ["new", /no title/],
    ["new a --file x --stdin", /exclude each other/],
    ["new a --file does-not-exist.md", /does-not-exist.md does not exist/],
    ["new a --branch ..", /name of a branch/],
    ["new a --agent nobody", /nobody/],
    ["init --arg x", /--arg needs --command/],
    ["init --agent unheard-of", /--command <program>/],
    ["start --nonsense", /unknown option/],
    ["stop now", /too many arguments/],
    ["doctor --nonsense", /unknown option/],
    ["demo --nonsense", /unknown option/],
    ["unpause x", /Did you mean resume\?/],
    ["rm x", /Did you mean delete\?/],
    ["stat", /Did you mean status\?/],
    ["merg x", /Did you mean merge\?/],
  ];
  for (const [line, expected] of someOf(calls, 8)) {
    it(`"${line}" ends with 2, an error and a hint`, async () => {
      const { code, stdout, stderr } = await repository.run(line.split(" "));
      assert.equal(code, 2, stderr);
      assert.equal(stdout, "");
      assert.match(stderr, /^error: .* \[usage\]\n {2}hint: .*\n$/);
      assert.match(stderr, expected);
    });
  }

  it("is JSON on stdout, too, when JSON was asked for", async () => {
    const { code, stdout, stderr } = await repository.run(["show", "--json"]);
    assert.equal(code, 2);
    const { error } = JSON.parse(stdout);
    assert.equal(error.code, "usage");
    assert.match(error.hint, /prloom show --help/);
    assert.match(stderr, /^error: /);
  });
});
