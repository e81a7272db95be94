import assert from "node:assert/strict";
import { test } from "node:test";
import { ROLE_RIGHTS } from "../../src/config/governance-words.ts";
import { parseConfig } from "../../src/config/load.ts";
import { checkConfig } from "../../src/config/problems/problems.ts";

const MINIMAL = { agents: { echo: { command: "echo" } }, stages: { default: "echo" } };
const governanceOf = (governance: object) => parseConfig(JSON.stringify({ ...MINIMAL, governance }), "x").governance;

function problemsOf(governance: unknown): string[] {
  const checked = checkConfig(JSON.stringify({ ...MINIMAL, governance }, null, 2));
  return checked.ok ? [] : checked.problems.map(({ key, message }) => `${key}: ${message}`);
}

test("without the key nothing is added and nothing taken away", () => {
  assert.deepEqual(governanceOf({}), {
    roles: {},
    mcp: { reads: [], writes: [] },
    secrets: [],
    interpreters: [],
    protected: [],
    maxRepeatedDenials: 3,
    purgeAfterMs: 48 * 3_600_000,
  });
});

test("a role has what it does not name from the role that it extends", () => {
  const { roles } = governanceOf({
    roles: {
      docs: { extends: "executor", paths: ["docs/**"] },
      tester: { extends: "executor", tools: ["read", "shell", "browser_open"], shell: "reads" },
      scout: { extends: "investigator" },
    },
  });
  const { tools, shell } = ROLE_RIGHTS.executor;
  assert.deepEqual(roles, {
    docs: { extends: "executor", tools, shell, paths: ["docs/**"] },
    tester: { extends: "executor", tools: ["read", "shell", "browser_open"], shell: "reads", paths: ["**"] },
    scout: { extends: "investigator", ...ROLE_RIGHTS.investigator },
  });
});

test("lists are taken over as they are written", () => {
  const written = {
    mcp: { reads: ["github_get_*"], writes: ["github_create_issue"] },
    secrets: ["config/*.production.json"],
    interpreters: ["python3"],
    protected: [".github/**", "deploy"],
    maxRepeatedDenials: 1,
  };
  assert.deepEqual(governanceOf({ ...written, purgeAfter: "0s" }), { ...written, roles: {}, purgeAfterMs: 0 });
});

const BASES = '"coordinator" or "investigator" or "executor"';
const LIST = "must be a list of strings";
const BELOW = "must be a path below the repository, without ..";
const mistakes: [governance: unknown, problems: string[]][] = [
  [[], ["governance: must be an object: { … }"]],
  [{ role: {} }, ["governance.role: unknown key, did you mean roles?"]],
  [{ roles: { a: {} } }, [`governance.roles.a.extends: is missing: must be ${BASES}`]],
  [{ roles: { a: { extends: "exectuor" } } }, [`governance.roles.a.extends: must be ${BASES}, did you mean executor?`]],
  [{ roles: { a: { extends: "executor" }, b: { extends: "a" } } }, [`governance.roles.b.extends: must be ${BASES}`]],
  [
    { roles: { executor: { extends: "executor" } } },
    ["governance.roles.executor: is a role of prloom's own; give yours another name"],
  ],
  [
    { roles: { "my role": { extends: "executor" } } },
    ["governance.roles.my role: names begin with a letter and have letters, digits, _ and - only, 64 at most"],
  ],
  [
    { roles: { a: { extends: "executor", tools: ["raed", "write"] } } },
    ['governance.roles.a.tools.0: there is no kind of tool called "raed", did you mean read?'],
  ],
  [
    { roles: { a: { extends: "executor", tools: ["Bash"] } } },
    ['governance.roles.a.tools.0: there is no kind of tool called "Bash"'],
  ],
  [
    { roles: { a: { extends: "coordinator", tools: ["read", "shell"] } } },
    ['governance.roles.a.tools.1: "shell" is not a tool of coordinator, which has read, search, web, govern, delegate'],
  ],
  [{ roles: { a: { extends: "executor", tools: "read" } } }, [`governance.roles.a.tools: ${LIST}`]],
  [
    { roles: { a: { extends: "investigator", shell: "work" } } },
    ['governance.roles.a.shell: must not be more than "reads", which investigator has'],
  ],
  [
    { roles: { a: { extends: "executor", shell: "wrok" } } },
    ['governance.roles.a.shell: must be "none" or "reads" or "work", did you mean work?'],
  ],
  [{ roles: { a: { extends: "executor", paths: ["../b"] } } }, [`governance.roles.a.paths.0: ${BELOW}`]],
  [
    { roles: { a: { extends: "executor", path: ["b"] } } },
    ["governance.roles.a.path: unknown key, did you mean paths?"],
  ],
  [
    { mcp: { reads: ["*", "**_*"] } },
    [
      'governance.mcp.reads.0: would allow every tool; name its server at least, like "github_*"',
      'governance.mcp.reads.1: would allow every tool; name its server at least, like "github_*"',
    ],
  ],
  [{ mcp: { read: [] } }, ["governance.mcp.read: unknown key, did you mean reads?"]],
  [{ secrets: ["/etc/passwd"] }, [`governance.secrets.0: ${BELOW}`]],
  [{ secrets: ["!../a"] }, [`governance.secrets.0: ${BELOW}`]],
  [
    { secrets: ["!**"] },
    ['governance.secrets.0: would take every file out; name those that are not secret, like "!src/tokens.json"'],
  ],
  [{ protected: ["!src"] }, ["governance.protected.0: cannot take something out again with !; name what is meant"]],
  [{ protected: ["a", ""] }, ["governance.protected.1: must not be empty"]],
  [
    { interpreters: ["/usr/bin/python3", "node -e"] },
    [
      "governance.interpreters.0: must be the name of a program, without its folder and arguments",
      "governance.interpreters.1: must be the name of a program, without its folder and arguments",
    ],
  ],
  [{ maxRepeatedDenials: 0 }, ["governance.maxRepeatedDenials: must be a whole number of 1 or more"]],
  [{ purgeAfter: "2 days" }, ['governance.purgeAfter: must be a number with a unit (ms, s, m, h, d), like "48h"']],
];

for (const [governance, expected] of mistakes) {
  test(`refused: ${JSON.stringify(governance)}`, () =>
    assert.deepEqual(problemsOf(governance).sort(), expected.toSorted()));
}

test("a preset cannot change what agents may do", () => {
  const checked = checkConfig(
    JSON.stringify({ ...MINIMAL, presets: { p: { governance: { interpreters: ["node"] } } } }),
  );
  assert.deepEqual(checked.ok ? [] : checked.problems.map(({ message }) => message), [
    "presets cannot change this: it is for the whole repository",
  ]);
});
