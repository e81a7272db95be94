import assert from "node:assert/strict";
import { existsSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { NotifySettings } from "../../../src/bridges/notify/settings.ts";
import { notice, setUp, temporary, writeNotifier } from "./fixture.ts";

const desktop: NotifySettings = { channels: { here: { kind: "desktop" } }, routes: {}, default: ["here"] };

function calledWith(dir: string, name: string): string[] {
  return readFileSync(join(dir, `${name}.args`), "utf8")
    .split("\0")
    .slice(0, -1);
}

test("notify-send gets title and message as they are, whatever is in them", async (t) => {
  const dir = temporary(t);
  writeNotifier(dir, "notify-send");
  const { deliver } = setUp({ notify: desktop, environment: { PATH: dir } });
  const title = "--help \u001b[31m$(touch pwned)\u0000 `x`";
  const message = 'a "quoted" \\033[2J <b>bold</b> & more\r\nsecond\u0007 line';
  assert.deepEqual(await deliver(notice({ priority: "urgent", title, message })), { success: true });
  assert.deepEqual(calledWith(dir, "notify-send"), [
    "--app-name=prloom",
    "--urgency=critical",
    "--",
    "--help $(touch pwned) `x`",
    'a "quoted" \\\\033[2J &lt;b&gt;bold&lt;/b&gt; &amp; more\nsecond line',
  ]);
});

test("urgency follows the priority, and long texts are cut", async (t) => {
  const dir = temporary(t);
  writeNotifier(dir, "notify-send");
  const { deliver } = setUp({ notify: desktop, environment: { PATH: dir } });
  const urgency = { urgent: "critical", action: "normal", warning: "normal", info: "low" } as const;
  for (const [priority, expected] of Object.entries(urgency)) {
    const message = "😀".repeat(100_000);
    await deliver(notice({ priority: priority as keyof typeof urgency, title: "t".repeat(9999), message }));
    const [, given, , title, body] = calledWith(dir, "notify-send");
    assert.equal(given, `--urgency=${expected}`);
    assert.equal(title, `${"t".repeat(199)}…`);
    assert.equal(body, `${"😀".repeat(499)}…`);
    unlinkSync(join(dir, "notify-send.args"));
  }
});

test("osascript gets the words as arguments of a script that never changes", async (t) => {
  const dir = temporary(t);
  writeNotifier(dir, "osascript");
  const { deliver } = setUp({ notify: desktop, environment: { PATH: `relative:${dir}` } });
  const title = '-e" & (do shell script "touch pwned") & "';
  assert.deepEqual(await deliver(notice({ title, message: "x\ny" })), { success: true });
  assert.deepEqual(calledWith(dir, "osascript"), [
    "-e",
    "on run argv",
    "-e",
    "display notification (item 3 of argv) with title (item 1 of argv) subtitle (item 2 of argv)",
    "-e",
    "end run",
    "prloom",
    title,
    "x\ny",
  ]);
});

test("no notifier: refused; what lies in the current folder is not one", async (t) => {
  const dir = temporary(t);
  const refusal = { success: false, error: "here: no desktop notifier here", retryable: false };
  for (const PATH of [undefined, "", dir, "/nowhere"]) {
    const { deliver } = setUp({ notify: desktop, environment: { PATH } });
    assert.deepEqual(await deliver(notice()), refusal);
  }
  writeNotifier(dir, "notify-send");
  const before = process.cwd();
  process.chdir(dir);
  t.after(() => process.chdir(before));
  for (const PATH of [undefined, "", ".", ":"]) {
    const { deliver } = setUp({ notify: desktop, environment: { PATH } });
    assert.deepEqual(await deliver(notice()), refusal);
  }
  assert.ok(!existsSync(join(dir, "notify-send.args")));
});

test("a notifier that fails or dies is a refusal that says so", async (t) => {
  const table: [then: string, reason: RegExp][] = [
    ["exit 3", /notify-send ended with exit code 3$/],
    ["kill -9 $$", /notify-send ended with SIGKILL$/],
  ];
  for (const [then, reason] of table) {
    const dir = temporary(t);
    writeNotifier(dir, "notify-send", then);
    const result = await setUp({ notify: desktop, environment: { PATH: dir } }).deliver(notice());
    assert.ok(!result.success && !result.retryable);
    assert.match(result.error, reason);
  }
});

test("a notifier whose interpreter is missing is a refusal too", async (t) => {
  const dir = temporary(t);
  writeFileSync(join(dir, "notify-send"), "#!/nowhere/sh\n", { mode: 0o755 });
  assert.deepEqual(await setUp({ notify: desktop, environment: { PATH: dir } }).deliver(notice()), {
    success: false,
    error: "here: notify-send cannot be started (ENOENT)",
    retryable: false,
  });
});

test("a notifier that hangs is ended with the call, which is tried again", async (t) => {
  const dir = temporary(t);
  // The program becomes `sleep`, so that ending it ends everything.
  writeNotifier(dir, "notify-send", 'echo $$ > "$0.pid"; exec /bin/sleep 600');
  const controller = new AbortController();
  const timer = setInterval(() => {
    if (existsSync(join(dir, "notify-send.pid"))) controller.abort();
  }, 10);
  t.after(() => clearInterval(timer));
  const { deliver } = setUp({ notify: desktop, environment: { PATH: dir } });
  assert.deepEqual(await deliver(notice(), { signal: controller.signal }), {
    success: false,
    error: "here: notify-send was ended",
    retryable: true,
  });
});

test("the notifier gets the environment without the secrets of other channels", async (t) => {
  const dir = temporary(t);
  writeNotifier(dir, "notify-send", `export -p > "${dir}/env"`);
  const notify: NotifySettings = {
    channels: {
      ...desktop.channels,
      team: { kind: "slack", urlEnv: "SLACK_URL" },
      hook: { kind: "webhook", urlEnv: "HOOK_URL", headersEnv: { Authorization: "HOOK_TOKEN" } },
    },
    routes: {},
    default: ["here"],
  };
  const secrets = { SLACK_URL: "S3CRET", HOOK_URL: "S3CRET", HOOK_TOKEN: "S3CRET" };
  const { deliver } = setUp({ notify, environment: { PATH: dir, DISPLAY: ":7", ...secrets } });
  assert.deepEqual(await deliver(notice()), { success: true });
  const environment = readFileSync(join(dir, "env"), "utf8");
  assert.match(environment, /DISPLAY=.?:7/);
  assert.doesNotMatch(environment, /S3CRET/);
});
