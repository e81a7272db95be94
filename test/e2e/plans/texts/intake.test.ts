import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { projectMaker } from "../../../testing/projects.ts";
import { type Extended, makeExtended, WRITER } from "../../fixtures/extended.ts";

const fresh = projectMaker(makeExtended);
function extended(config: Record<string, unknown>): Extended {
  const hub = { module: "./plugins/feed.ts", config: { name: "hub" } };
  return fresh({ config: { globalBridges: { hub }, ...config } });
}
const actor = (name: string, ...only: string[]) => ({ module: "./plugins/actor.ts", config: { name, only } });
const sourceOf = (id: string) => ({ system: "tracker", kind: "issue", id });

test("triggers: events become plans without code, one for each source, by people who may write", async () => {
  const project = extended({
    presets: { gentle: { limits: { attemptsPerTodo: 1 } } },
    triggers: [
      { on: "issue.labeled", label: "Ready", do: "queue", preset: "gentle" },
      { on: "issue.opened", repo: "o/r", do: "upsert" },
      { on: "card.moved", do: "upsert" },
    ],
  });
  const issue = (id: string, type: string, more: object) => ({
    id: `${type}-${id}`,
    type,
    title: `Issue ${id}`,
    body: "## TODO\n\n- [ ] do it\n",
    context: { ...WRITER, source: sourceOf(id), repo: "o/r", ...more },
  });
  project.feed(
    "hub",
    undefined,
    issue("1", "issue.opened", {}),
    issue("2", "issue.opened", { repo: "o/other" }),
    issue("3", "issue.labeled", { label: "ready" }),
    issue("4", "issue.labeled", { label: "wontfix" }),
    issue("5", "issue.opened", { author: { login: "mallory", permission: "read" } }),
    issue("6", "card.moved", {}),
    issue("6", "issue.opened", {}),
    { id: "7", type: "issue.opened", title: "No source", context: { ...WRITER, repo: "o/r" } },
    issue("8", "issue.assigned", {}),
  );
  const { code, stdout, stderr } = await project.work();
  assert.equal(code, 0, stdout + stderr);
  const { plans, dead } = await project.status();
  const found = plans.map(({ source, status, title }) => `${source?.id} ${status} ${title}`).sort();
  assert.deepEqual(found, ["1 draft Issue 1", "3 review Issue 3", "6 draft Issue 6"]);
  assert.equal(dead.count, 0);
  assert.match(JSON.stringify(await project.log(undefined, "settled")), /mallory, who may not write/);
  assert.match(stdout, /not delivered: "upsert_plan" was asked for by mallory/);
  const queued = plans.find(({ source }) => source?.id === "3");
  assert.equal(project.record(queued?.planId ?? "").metadata.preset, "gentle");
});

test("notify: a plugin reaches people by priority; secrets are named, and stay out of every file and line", async () => {
  const received: { path: string | undefined; headers: IncomingHttpHeaders; body: Record<string, unknown> }[] = [];
  let isUp = false;
  const server = createServer(async (request, response) => {
    const chunks = await request.setEncoding("utf8").toArray();
    const status = request.url === "/slack?token=s3cret" && !isUp ? 503 : 200;
    isUp ||= status === 503;
    if (status === 200)
      received.push({ path: request.url, headers: request.headers, body: JSON.parse(chunks.join("")) });
    response.writeHead(status, status === 503 ? { "retry-after": "0" } : {}).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  after(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const project = extended({
    globalPlugins: { gamma: actor("gamma", "onGlobalEvent") },
    notify: {
      channels: {
        chat: { kind: "slack", urlEnv: "CHAT_URL" },
        hook: { kind: "webhook", urlEnv: "HOOK_URL", headersEnv: { "X-Key": "HOOK_KEY" } },
        unset: { kind: "webhook", urlEnv: "NOT_SET" },
      },
      routes: { urgent: ["chat", "hook"], action: ["hook"], warning: ["unset"], info: [] },
    },
  });
  const env = { CHAT_URL: `${base}/slack?token=s3cret`, HOOK_URL: `${base}/hook`, HOOK_KEY: "k3y" };
  const say = (priority: string) => ({
    id: priority,
    body: `gamma: notify ${JSON.stringify({ priority, title: `A ${priority} thing`, message: "Look <here>" })}`,
  });
  project.feed("hub", undefined, ...["urgent", "action", "warning", "info"].map(say));
  const { code, stdout, stderr } = await project.work(env);
  assert.equal(code, 0, stdout + stderr);
  const got = received.map(({ path, body }) => `${path} ${body.title ?? body.text}`).sort();
  assert.equal(got.length, 3, got.join("\n"));
  assert.match(got.join("\n"), /\/hook A action thing\n\/hook A urgent thing\n\/slack\S+ .*A urgent thing/);
  const hook = received.find(({ body }) => body.title === "A action thing");
  assert.equal(hook?.headers["x-key"], "k3y");
  assert.match(String(hook?.headers["idempotency-key"]), /^act-/);
  const { dead } = await project.status();
  assert.deepEqual(
    dead.letters.map(({ reason }) => /NOT_SET is not set/.test(reason)),
    [true],
    JSON.stringify(dead),
  );
  const files = readdirSync(project.authority, { recursive: true, withFileTypes: true }).filter((file) =>
    file.isFile(),
  );
  const texts = files.map((file) => readFileSync(join(file.parentPath, file.name), "utf8"));
  assert.doesNotMatch([stdout, stderr, ...texts].join("\n"), /s3cret|k3y/);
});
