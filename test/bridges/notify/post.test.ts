import assert from "node:assert/strict";
import { test } from "node:test";
import type { NotifySettings } from "../../../src/bridges/notify/settings.ts";
import { NOW, notice, setUp, startServer } from "./fixture.ts";

const slack = { channels: { team: { kind: "slack", urlEnv: "SLACK_URL" } }, routes: {}, default: ["team"] } as const;
const hook: NotifySettings = {
  channels: {
    hook: { kind: "webhook", urlEnv: "HOOK_URL", headersEnv: { Authorization: "HOOK_TOKEN", "X-Team": "HOOK_TEAM" } },
  },
  routes: {},
  default: ["hook"],
};

test("slack gets text in which nothing can call people or forge links", async (t) => {
  const server = await startServer(t);
  const { deliver } = setUp({ notify: slack, environment: { SLACK_URL: server.url("/services/x") } });
  const message = "a & b <!channel> <http://evil|good>";
  assert.deepEqual(await deliver(notice({ priority: "urgent", title: "Plan\nalpha", message })), { success: true });
  const { body, headers } = server.received[0]!;
  assert.deepEqual(body, {
    text: "[urgent] *Plan alpha*\na &amp; b &lt;!channel&gt; &lt;http://evil|good&gt;",
  });
  assert.equal(headers["content-type"], "application/json");
  await deliver(notice({ priority: "info", title: " ", message: "x".repeat(100_000) }));
  assert.match(JSON.stringify(server.received[1]?.body), /^\{"text":"\*prloom\*\\nx{2999}…"\}$/);
});

test("a webhook gets the notice, its headers, and a key by which it can tell a repetition", async (t) => {
  const server = await startServer(t);
  const environment = { HOOK_URL: server.url("/hook?key=1"), HOOK_TOKEN: "Bearer t0k3n\n", HOOK_TEAM: "blue" };
  const { deliver } = setUp({ notify: hook, environment });
  assert.deepEqual(await deliver(notice({}, "act-77"), { planId: "alpha" }), { success: true });
  const { path, headers, body } = server.received[0]!;
  assert.equal(path, "/hook?key=1");
  assert.equal(headers["idempotency-key"], "act-77");
  assert.equal(headers.authorization, "Bearer t0k3n");
  assert.equal(headers["x-team"], "blue");
  assert.deepEqual(body, {
    id: "act-77",
    planId: "alpha",
    priority: "action",
    title: "Review it",
    message: "Plan alpha",
    at: new Date(NOW).toISOString(),
  });
});

test("answers: what is tried again, when, and what is not", async (t) => {
  let answer: [status: number, headers?: Record<string, string>] = [200];
  const server = await startServer(t, (_path, response) => response.writeHead(...answer).end("the secret is S3CRET"));
  const { deliver } = setUp({ notify: slack, environment: { SLACK_URL: server.url("/x") } });
  const inTwoMinutes = new Date(NOW + 120_000).toUTCString();
  const table: [typeof answer, string][] = [
    [[200], "ok"],
    [[204], "ok"],
    [[408], "retry"],
    [[429, { "retry-after": "7" }], "retry 7000"],
    [[429, { "retry-after": inTwoMinutes }], "retry 120000"],
    [[503, { "retry-after": "soon" }], "retry"],
    [[503, { "retry-after": "99999999" }], "retry 3600000"],
    [[503, { "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }], "retry 0"],
    [[500], "retry"],
    [[400], "refused"],
    [[401], "refused"],
    [[404], "refused"],
    [[302, { location: server.url("/elsewhere") }], "refused"],
    [[307, { location: server.url("/elsewhere") }], "refused"],
  ];
  for (const [given, expected] of table) {
    answer = given;
    const result = await deliver(notice());
    const wait = result.success || result.retryAfterMs === undefined ? "" : ` ${result.retryAfterMs}`;
    assert.equal(
      result.success ? "ok" : `${result.retryable ? "retry" : "refused"}${wait}`,
      expected,
      String(given[0]),
    );
    if (!result.success) {
      assert.ok(result.error.includes(String(given[0])), result.error);
      assert.ok(!result.error.includes("S3CRET"));
    }
  }
  assert.deepEqual(
    server.received.map(({ path }) => path),
    table.map(() => "/x"),
  );
});

test("a server that is not there, or hangs up, is tried again", async (t) => {
  const server = await startServer(t, (_path, response) => response.destroy());
  const { deliver } = setUp({ notify: slack, environment: { SLACK_URL: server.url("/S3CRET") } });
  const hungUp = await deliver(notice());
  assert.ok(!hungUp.success && hungUp.retryable);
  server.server.close();
  server.server.closeAllConnections();
  const gone = await deliver(notice());
  assert.deepEqual(gone, { success: false, error: "team: it cannot be reached (ECONNREFUSED)", retryable: true });
});

test("a call that the dispatcher ends is tried again later", async (t) => {
  const controller = new AbortController();
  const server = await startServer(t, () => controller.abort());
  const { deliver } = setUp({ notify: slack, environment: { SLACK_URL: server.url("/x") } });
  assert.deepEqual(await deliver(notice(), { signal: controller.signal }), {
    success: false,
    error: "team: the call was ended before it answered",
    retryable: true,
  });
});

test("a variable that is not set, or holds no address, is a refusal that names it", async () => {
  const table: [value: string | undefined, reason: RegExp][] = [
    [undefined, /variable SLACK_URL is not set/],
    ["  ", /variable SLACK_URL is not set/],
    ["S3CRET", /SLACK_URL holds no http or https address/],
    ["file:///S3CRET", /SLACK_URL holds no http or https address/],
    ["https://S3CRET:S3CRET@host.invalid/", /SLACK_URL has a user or password/],
  ];
  for (const [value, reason] of table) {
    const { deliver } = setUp({ notify: slack, environment: { SLACK_URL: value } });
    const result = await deliver(notice());
    assert.ok(!result.success && !result.retryable);
    assert.match(result.error, reason);
    assert.ok(!result.error.includes("S3CRET"));
  }
  const { deliver } = setUp({ notify: hook, environment: { HOOK_URL: "http://127.0.0.1:1/", HOOK_TEAM: "blue" } });
  const result = await deliver(notice());
  assert.ok(!result.success && !result.retryable);
  assert.match(result.error, /variable HOOK_TOKEN is not set/);
});

test("secrets are in no error and no report, whatever goes wrong", async (t) => {
  const server = await startServer(t, (path, response) => {
    if (path.includes("drop")) response.destroy();
    else response.writeHead(path.includes("busy") ? 503 : 400, "S3CRET", { "x-echo": "S3CRET" }).end("S3CRET");
  });
  const urls = [
    server.url("/busy/S3CRET"),
    server.url("/drop/S3CRET"),
    server.url("/bad/S3CRET"),
    "http://S3CRET.invalid/S3CRET",
    "http://127.0.0.1:1/S3CRET",
    "http://127.0.0.1:25/S3CRET",
    "http://S3CRET:99999999/",
    "http://[S3CRET]/",
    "S3CRET",
  ];
  for (const url of urls) {
    for (const token of ["S3CRET", "S3CRET\u0001", "S3CRET\r\nX: 1", "S3CRET ä 漢"]) {
      const channels: NotifySettings["channels"] = { ...hook.channels, ...slack.channels, mine: { kind: "terminal" } };
      const environment = { HOOK_URL: url, SLACK_URL: url, HOOK_TOKEN: token, HOOK_TEAM: "blue" };
      for (const route of [["hook"], ["team"], ["hook", "team", "mine"]]) {
        const notify: NotifySettings = { channels, routes: {}, default: route };
        const { deliver, reports } = setUp({ notify, environment });
        const result = await deliver(notice());
        assert.doesNotMatch(JSON.stringify([result, reports]), /s3cret/i, `${url} ${route}`);
      }
    }
  }
  // The address itself stands where the name of its variable belongs.
  const notify: NotifySettings = {
    channels: { team: { kind: "slack", urlEnv: "https://hooks.invalid/S3CRET" } },
    routes: {},
    default: ["team"],
  };
  const result = await setUp({ notify }).deliver(notice());
  assert.ok(!result.success && !result.error.includes("S3CRET"));
});
