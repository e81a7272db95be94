import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "../../src/config/load.ts";
import { checkConfig } from "../../src/config/problems/problems.ts";

const MINIMAL = { agents: { echo: { command: "echo" } }, stages: { default: "echo" } };
const configOf = (over: Record<string, unknown>) => parseConfig(JSON.stringify({ ...MINIMAL, ...over }), "x");

function problemsOf(over: Record<string, unknown>): string[] {
  const checked = checkConfig(JSON.stringify({ ...MINIMAL, ...over }, null, 2));
  return checked.ok ? [] : checked.problems.map(({ key, message }) => `${key}: ${message}`);
}

const channels = {
  desk: { kind: "desktop" },
  team: { kind: "slack", urlEnv: "SLACK_URL" },
  hook: { kind: "webhook", urlEnv: "HOOK_URL", headersEnv: { Authorization: "HOOK_AUTH" } },
  here: { kind: "terminal" },
};

test("channels and routes are taken over; without a default it is every channel", () => {
  const routes = { urgent: ["team", "desk"], info: [] };
  assert.deepEqual(configOf({ notify: { channels, routes, default: ["here"] } }).notify, {
    channels,
    routes,
    default: ["here"],
  });
  assert.deepEqual(configOf({ notify: { channels } }).notify, {
    channels,
    routes: {},
    default: ["desk", "team", "hook", "here"],
  });
  assert.deepEqual(configOf({ notify: { channels, default: [] } }).notify.default, []);
});

test("triggers are taken over as they are written", () => {
  const triggers = [
    { on: "issue.labeled", repo: "acme/shop", label: "loom", do: "queue", preset: "careful" },
    { on: "card.moved", assignee: "ada", do: "upsert" },
  ];
  assert.deepEqual(configOf({ triggers, presets: { careful: {} } }).triggers, triggers);
});

const KINDS = '"desktop" or "slack" or "webhook" or "terminal"';
const mistakes: [over: Record<string, unknown>, problems: string[]][] = [
  [{ notify: {} }, ["notify.channels: is missing: must be an object: { … }"]],
  [
    { notify: { channels: { a: { kind: "slak", urlEnv: "X" } } } },
    [`notify.channels.a.kind: must be ${KINDS}, did you mean slack?`],
  ],
  [{ notify: { channels: { a: {} } } }, [`notify.channels.a.kind: is missing: must be ${KINDS}`]],
  [{ notify: { channels: { a: "desktop" } } }, ["notify.channels.a: must be an object: { … }"]],
  [
    { notify: { channels: { a: { kind: "slack", urlEnv: "X", url: "https://example.com" } } } },
    [
      "notify.channels.a.url: this file is committed: put the address into an environment variable and name that with urlEnv",
    ],
  ],
  [
    { notify: { channels: { a: { kind: "webhook", urlEnv: "X", headers: { A: "b" } } } } },
    [
      "notify.channels.a.headers: this file is committed: put the values into environment variables and name those with headersEnv",
    ],
  ],
  [
    { notify: { channels: { a: { kind: "slack", urlEnv: "https://example.com" } } } },
    ["notify.channels.a.urlEnv: is not a name for an environment variable"],
  ],
  [
    { notify: { channels: { a: { kind: "slack", urlEvn: "X" } } } },
    [
      "notify.channels.a.urlEnv: is missing: must be the name of an environment variable",
      "notify.channels.a.urlEvn: unknown key, did you mean urlEnv?",
    ],
  ],
  [
    { notify: { channels: { a: { kind: "webhook", urlEnv: "X", headersEnv: { "a b": "Y" } } } } },
    ["notify.channels.a.headersEnv.a b: is not a name for an HTTP header"],
  ],
  [
    { notify: { channels, routes: { urgent: ["taem"], wraning: [] }, default: ["desk", "desk"] } },
    [
      "notify.routes.wraning: unknown key, did you mean warning?",
      'notify.routes.urgent.0: there is no channel called "taem", did you mean team?',
      'notify.default.1: "desk" is in the list twice',
    ],
  ],
  [{ writeback: { body: true } }, ['writeback.body: needs the key "github": plans are written to issues there alone']],
  [{ writeback: { body: "yes" } }, ["writeback.body: must be true or false"]],
  [{ triggers: {} }, ["triggers: must be a list of triggers"]],
  [
    { triggers: [{ on: "issue.labelled", do: "queue" }] },
    [
      'triggers.0.on: "issue.labelled" does not happen to issues; there are issue.opened, issue.labeled, issue.assigned, issue.reopened, issue.moved, did you mean issue.labeled?',
    ],
  ],
  [
    { triggers: [{ on: "issue.moved", do: "queue" }] },
    [
      'triggers.0.project: is missing: the board, as "<owner>/<number>"',
      "triggers.0.column: is missing: the column of the board that makes plans",
    ],
  ],
  [
    { triggers: [{ on: "issue.moved", project: "acme/board", column: " ", do: "queue" }] },
    [
      'triggers.0.project: must be "<owner>/<number>", as in the address of the project',
      "triggers.0.column: must not be empty",
    ],
  ],
  [
    { triggers: [{ on: "issue.labeled", project: "acme/1", column: "Todo", do: "queue" }] },
    ["triggers.0.project: is for issue.moved only", "triggers.0.column: is for issue.moved only"],
  ],
  [{ triggers: [{ on: "issue.opened" }] }, ['triggers.0.do: is missing: must be "upsert" or "queue"']],
  [
    { triggers: [{ on: "issue.opened", do: "qeue" }] },
    ['triggers.0.do: must be "upsert" or "queue", did you mean queue?'],
  ],
  // Answers at a gate need no trigger.
  [
    { triggers: [{ on: "issue_comment.created", do: "resume-session", commentPattern: "lgtm", message: "Go on." }] },
    [
      'triggers.0.do: must be "upsert" or "queue"',
      "triggers.0.commentPattern: unknown key, there are on, repo, label, assignee, project, column, do, preset",
      "triggers.0.message: unknown key, there are on, repo, label, assignee, project, column, do, preset",
    ],
  ],
  [{ triggers: [{ on: " ", do: "queue" }] }, ["triggers.0.on: must not be empty"]],
  [
    { triggers: [{ on: "issue.opened", do: "queue", lable: "x" }] },
    ["triggers.0.lable: unknown key, did you mean label?"],
  ],
  [
    { triggers: [{ on: "issue.opened", do: "queue", preset: "carefull" }], presets: { careful: {} } },
    ['triggers.0.preset: there is no preset called "carefull", did you mean careful?'],
  ],
];

for (const [over, expected] of mistakes) {
  test(`refused: ${JSON.stringify(over)}`, () => assert.deepEqual(problemsOf(over).sort(), expected.toSorted()));
}
