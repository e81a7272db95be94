import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { Dialogue } from "../../../src/agents/dialogue/dialogue.ts";
import { openCodeDialogue } from "../../../src/agents/opencode/dialogue.ts";
import { openCodeEnvironment, openCodeInvocation } from "../../../src/agents/opencode/invocation.ts";
import { readLogLine } from "../../../src/agents/opencode/log-line.ts";
import { closed, reopen } from "../../../src/hosts/opencode/closing.ts";
import { assertUnshaken, heard } from "../../testing/printed-lines.ts";

function dialogue(governedRun?: string): Dialogue {
  return openCodeDialogue({ program: "opencode", model: "scripted/scripted-1", now: () => 0, governedRun });
}

function recorded(name: string): string[] {
  const text = readFileSync(new URL(`../fixtures/opencode/${name}.log`, import.meta.url), "utf8");
  return text.trimEnd().split("\n");
}

/** What version 1.18.33 printed, and what it means. */
const RECORDED: readonly (readonly [name: string, expected: readonly string[]])[] = [
  [
    "work",
    [
      "error rate-limit, again: Rate limit reached. Please try again later.",
      "session",
      "turn",
      "text I write.",
      'call write {"filePath":"/worktree/hello.txt","content":"hello\\n"}',
      "result Wrote file successfully.",
      "usage scripted/scripted-1 100/0/10 $0.000120",
      "turn",
      'call bash {"command":"cat hello.txt; exit 3","description":"Run it"}',
      "failed hello",
      "usage scripted/scripted-1 200/50/20 $0.000190",
      "turn",
      "text Done.",
      "usage scripted/scripted-1 100/0/10 $0.000120",
    ],
  ],
  [
    "key-refused",
    ["error auth, again: Incorrect API key provided.", "session", "error auth: Incorrect API key provided."],
  ],
  ["session-lost", ["error session-lost: Session not found"]],
  ["unknown-model", ["session", "error other: Model not found: scripted/none."]],
  [
    "refused-outside",
    [
      "session",
      "turn",
      "waiting permission requested: external_directory (/*)",
      'call write {"filePath":"/outside.txt","content":"x"}',
      "failed The user rejected permission to use this specific tool call.",
      "usage scripted/scripted-1 9/0/20 $0.000049",
      "turn",
      "text Done.",
      "usage scripted/scripted-1 38/0/20 $0.000078",
    ],
  ],
  [
    "sub-agent",
    [
      "session",
      "turn",
      'call task {"description":"sub","subagent_type":"general","prompt":"sub task"}',
      'result <task id="ses_e20dd214effeCYimaKje9Zr93M" state="completed">',
      "usage scripted/scripted-1 9/0/20 $0.000049",
      "turn",
      "text Parent done.",
      "usage scripted/scripted-1 52/0/20 $0.000092",
    ],
  ],
];

describe("what OpenCode prints", () => {
  for (const [name, expected] of RECORDED) {
    test(`recorded: ${name}`, () => assert.deepEqual(heard(dialogue(), recorded(name)), expected));
  }

  test("an error that names a line of the log is explained by it, in whatever order they come", () => {
    const lines = recorded("unknown-model");
    assert.deepEqual(heard(dialogue(), lines.toReversed()), heard(dialogue(), lines));
    const withoutLog = lines.filter((line) => line.startsWith("{"));
    assert.match(heard(dialogue(), withoutLog).at(-1) ?? "", /^error other: Unexpected server error/);
  });

  test("an error says how long it is to be left alone", () => {
    const error = (responseHeaders: object): string =>
      JSON.stringify({
        type: "error",
        error: { name: "APIError", data: { message: "no", statusCode: 429, responseHeaders } },
      });
    assert.deepEqual(heard(dialogue(), [error({ "retry-after": "7" })]), ["error rate-limit in 7000: no"]);
    assert.deepEqual(heard(dialogue(), [error({ "retry-after-ms": "150" })]), ["error rate-limit in 150: no"]);
    assert.deepEqual(heard(dialogue(), [error({ "retry-after": "Wed, 21 Oct" })]), ["error rate-limit: no"]);
  });

  test("what the provider sent tells a limit of the plan from one of the minute", () => {
    const data = {
      message: "Too Many Requests",
      statusCode: 429,
      responseBody: '{"error":{"code":"insufficient_quota"}}',
    };
    const line = JSON.stringify({ type: "error", error: { name: "APIError", data } });
    assert.deepEqual(heard(dialogue(), [line]), ["error quota: Too Many Requests"]);
  });

  test("what its log says after it has told the end is ignored", () => {
    const lines = recorded("key-refused");
    assert.deepEqual(heard(dialogue(), lines.toReversed()), ["session", "error auth: Incorrect API key provided."]);
  });

  test("a cost of nothing is one that is not known", () => {
    const finish = (cost: number): string =>
      JSON.stringify({
        type: "step_finish",
        part: { cost, tokens: { input: 5, output: 2, reasoning: 3, cache: { read: 4, write: 1 } } },
      });
    assert.deepEqual(heard(dialogue(), [finish(0)]), ["usage scripted/scripted-1 10/4/5"]);
    assert.deepEqual(heard(dialogue(), [finish(0.5)]), ["usage scripted/scripted-1 10/4/5 $0.500000"]);
  });

  test("nothing that could be printed throws, and nothing is ever given back", () => {
    assertUnshaken(dialogue, {
      types: ["step_start", "text", "tool_use", "step_finish", "reasoning", "error"],
      keys: [
        "sessionID",
        "part",
        "tokens",
        "input",
        "output",
        "cache",
        "read",
        "cost",
        "state",
        "callID",
        "tool",
        "error",
        "data",
      ],
      recorded: RECORDED.flatMap(([name]) => recorded(name)),
    });
  });
});

describe("OpenCode's log", () => {
  test("is read field by field", () => {
    const line =
      'timestamp=2026-11-15T11:50:22.959Z level=ERROR run=8e message="stream error" error.error="A: \\"b\\" c=d" x=y';
    assert.deepEqual(readLogLine(line), {
      level: "ERROR",
      fields: {
        timestamp: "2026-11-15T11:50:22.959Z",
        level: "ERROR",
        run: "8e",
        message: "stream error",
        "error.error": 'A: "b" c=d',
        x: "y",
      },
    });
    assert.equal(readLogLine("timestamp of level=ERROR"), undefined);
  });

  test("our plugin says in it that the rules end the run, and why", () => {
    const line = 'timestamp=2026-11-15T11:50:22.959Z level=ERROR run=8e message="prloom:policy-end denied\\nWHAT: x"';
    assert.deepEqual(dialogue().read(line), { events: [], policyEnd: "denied\nWHAT: x" });
  });

  test("our plugin says in it that the rules are in force; a run whose model answers before that is ended", () => {
    const proof = 'timestamp=2026-11-15T11:50:22.959Z level=ERROR run=8e message="prloom:in-force run-7"';
    const answer = '{"type":"step_start","sessionID":"ses_1","part":{}}';
    const ends = (governedRun: string | undefined, lines: readonly string[]): boolean => {
      const one = dialogue(governedRun);
      return lines.map((line) => one.read(line)).some(({ policyEnd }) => policyEnd !== undefined);
    };
    assert.equal(ends("run-7", [proof, answer]), false);
    assert.equal(ends("run-7", [answer, proof]), true);
    assert.equal(ends("run-8", [proof, answer]), true);
    assert.equal(ends(undefined, [answer]), false);
    assert.deepEqual(dialogue("run-7").read(proof).events, []);
  });

  test("warnings in it are not errors", () => {
    const line = 'timestamp=2026-11-15T11:50:22.959Z level=WARN run=8e message="stream error" error.error="x"';
    assert.deepEqual(heard(dialogue(), [line]), []);
  });
});

describe("a format of OpenCode that has changed", () => {
  test("is told with what was expected and what came", () => {
    const [line, ...others] = heard(dialogue(), ['{"event":"step"}', '{"event":"end"}']);
    assert.deepEqual(others, []);
    assert.match(
      line ?? "",
      /^error format: opencode printed nothing that prloom knows\. Expected .*"step_start".*came: \{"event":"step"\}$/,
    );
    const old = heard(dialogue(), ["opencode run [message..]", "Options:"]);
    assert.match(old.at(-1) ?? "", /^error format: .*came: opencode run/);
  });

  test("is not suspected when something was understood, or nothing was printed", () => {
    const known = '{"type":"text","part":{"text":"Hello."}}';
    assert.deepEqual(heard(dialogue(), [known, '{"type":"new_thing"}']), ["text Hello."]);
    assert.deepEqual(heard(dialogue(), []), []);
  });
});

describe("how OpenCode is started", () => {
  const spec = { name: "o", command: "opencode", projectSettings: false };
  const BASE = "run --format json --print-logs --log-level WARN";
  const table: readonly (readonly [object, object, string[]])[] = [
    [{}, { sandboxed: true }, ["--auto", "--title", "prloom worker"]],
    [{}, { sandboxed: false }, ["--title", "prloom worker"]],
    [
      { args: ["--variant", "high"] },
      { sandboxed: true, sessionId: "ses_1", model: "a/b" },
      ["--auto", "--session", "ses_1", "--model", "a/b", "--variant", "high"],
    ],
  ];
  for (const [more, start, expected] of table) {
    test(expected.join(" "), () => {
      const invocation = openCodeInvocation({ ...spec, ...more }, { stage: "worker", sandboxed: false, ...start });
      assert.deepEqual(invocation, { program: "opencode", args: [...BASE.split(" "), ...expected] });
    });
  }

  const config = (more: object): unknown =>
    JSON.parse(openCodeEnvironment({ projectSettings: false, ...more }).OPENCODE_CONFIG_CONTENT ?? "");
  const experimental = { continue_loop_on_deny: true };

  test("the repository's instructions are read though its settings are not", () => {
    assert.deepEqual(config({ instructions: "/base/a.md" }), { instructions: ["/base/a.md"], experimental });
    assert.deepEqual(config({ instructions: "/base/a.md", projectSettings: true }), { experimental });
    assert.equal(openCodeEnvironment({ projectSettings: false }).OPENCODE_DISABLE_PROJECT_CONFIG, "1");
    assert(!("OPENCODE_DISABLE_PROJECT_CONFIG" in openCodeEnvironment({ projectSettings: true })));
  });

  test("a governed run may use no tool, whatever the user's rules say, and only those are left when it is opened", () => {
    const governed = { plugin: "/ours/opencode.js", shell: "/bin/bash", env: {}, close: closed };
    const configContent =
      '{"permission":"ask","shell":"zsh","agent":{"build":{"model":"m","permission":{"edit":"allow"}}},"plugin":["x"]}';
    const around = { projectSettings: false, configContent, permission: '{"bash":{"*":"allow"}}', governed };
    const { OPENCODE_CONFIG_CONTENT = "", OPENCODE_PERMISSION } = openCodeEnvironment(around);
    assert.equal(OPENCODE_PERMISSION, "");
    const made = JSON.parse(OPENCODE_CONFIG_CONTENT);
    assert.deepEqual(Object.entries(made.permission), [
      ["*", "ask"],
      ["bash", { "*": "allow" }],
      ["?*", "deny"],
    ]);
    assert.deepEqual(Object.entries(made.agent.build.permission).at(-1), ["?*", "deny"]);
    assert.deepEqual(made.plugin, ["x", "/ours/opencode.js"]);
    assert.equal(made.shell, "/bin/bash", "what runs commands is what they are judged as");
    reopen(made);
    assert.deepEqual(made.permission, { "*": "ask", bash: { "*": "allow" } });
    assert.deepEqual(made.agent.build, { model: "m", permission: { edit: "allow" } });
  });

  test("settings that the user gave in the environment stay", () => {
    const configContent = '{"instructions":["x.md"],"theme":"t","experimental":{"continue_loop_on_deny":false}}';
    assert.deepEqual(config({ instructions: "/base/a.md", configContent }), {
      instructions: ["x.md", "/base/a.md"],
      theme: "t",
      experimental: { continue_loop_on_deny: false },
    });
    assert.deepEqual(config({ configContent: "{ not json" }), { experimental });
  });
});
