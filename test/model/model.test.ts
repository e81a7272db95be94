import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { type Model, startModel } from "../testing/model/model.ts";
import type { Script } from "../testing/model/script.ts";
import { thorough } from "../testing/thorough.ts";
import { ask, CLIENTS, post, sentEvents } from "./clients.ts";

describe("the scripted model as a server", { concurrency: 4 }, () => {
  const models: Model[] = [];
  after(() => Promise.all(models.map((model) => model.close())));
  async function start(script: Script): Promise<Model> {
    const model = await startModel(script);
    models.push(model);
    return model;
  }

  test("records what was asked, without keys", async () => {
    const model = await start([{ when: /go/, steps: [{ say: "a" }, { say: "b" }] }]);
    const awaited = model.waitFor(({ text }) => text === "go on");
    await ask(model.url, CLIENTS.anthropic, { user: "first", tools: ["Bash"], system: "Be good." });
    await ask(model.url, CLIENTS.anthropic, { user: "go on", used: [{ name: "Bash", result: "r" }] });
    await fetch(`${model.url}/v1/models`);
    const [first, second, third] = model.requests;
    assert(first && second && third);
    assert.equal(await awaited, second);
    assert.deepEqual([first.protocol, first.method, first.path], ["anthropic", "POST", "/v1/messages?beta=true"]);
    assert.deepEqual(
      [first.text, first.rule, first.step, first.conversation.system.trim()],
      ["first", undefined, undefined, "Be good."],
    );
    assert.deepEqual([second.rule, second.step, second.body.model], [0, 1, "scripted-1"]);
    assert.deepEqual(second.conversation.said.at(-1), { role: "tool", text: "r" });
    assert.deepEqual([third.protocol, third.aside], [undefined, true]);
    assert.deepEqual(model.asked(), [first, second]);
    assert(first.at > 0 && second.at >= first.at);
    assert.deepEqual([first.headers["x-api-key"], first.headers.authorization], ["(hidden)", "(hidden)"]);
    assert.doesNotMatch(JSON.stringify(model.requests), /very-secret/);
  });

  test("what a program asks beside the work takes no step and meets no fault", async () => {
    const model = await start([{ steps: [{ fail: 500, times: 1 }, { say: "the work" }] }]);
    const client = CLIENTS["openai-chat"];
    const title = await ask(model.url, client, {
      user: "work",
      system: "You are a title generator. You output a title.",
    });
    assert.equal(title.text, "A scripted title");
    const headers = { "user-agent": "claude-cli/2 (external)" };
    const body = JSON.stringify(CLIENTS.anthropic.body({ user: "quota", tools: ["Bash"] }));
    const quota = await fetch(`${model.url}/v1/messages`, { method: "POST", headers, body });
    assert.equal(quota.status, 200);
    assert.equal(model.asked().length, 0);
    assert.equal((await post(model.url, client, { user: "work" })).status, 500);
    assert.equal((await ask(model.url, client, { user: "work" })).text, "the work");
  });

  test("a fault happens so many times, over all conversations that meet it", async () => {
    const model = await start([{ steps: [{ fail: 429, times: 2 }, { say: "now" }] }]);
    const client = CLIENTS["openai-responses"];
    const status = async (user: string): Promise<number> => (await post(model.url, client, { user })).status;
    assert.deepEqual([await status("a"), await status("b"), await status("a")], [429, 429, 200]);
    model.follow([{ steps: [{ fail: 401, times: 1 }, { say: "again" }] }]);
    assert.deepEqual([await status("a"), await status("a")], [401, 200]);
  });

  test("hangs before the answer, and does not mind being left", async () => {
    const model = await start([
      { when: /short/, steps: [{ hang: 30, times: 1 }, { say: "late" }] },
      { when: /long/, steps: [{ hang: 3_600_000 }, { say: "never" }] },
    ]);
    const gone = new AbortController();
    const url = `${model.url}${CLIENTS.gemini.path(true)}`;
    const body = JSON.stringify(CLIENTS.gemini.body({ user: "long" }));
    const left = fetch(url, { method: "POST", body, signal: gone.signal });
    await model.waitFor(({ text }) => text === "long");
    assert.equal((await ask(model.url, CLIENTS.gemini, { user: "short" }, true)).text, "late");
    gone.abort();
    await assert.rejects(left, { name: "AbortError" });
  });

  for (const [name, client] of Object.entries(CLIENTS)) {
    const options = name === "anthropic" ? {} : thorough;
    test(`cuts an answer of ${name} in the middle, once`, async () => {
      const model = await start([
        { steps: [{ drop: true, times: 1 }, { say: "A whole text that is longer than one piece of it." }] },
      ]);
      const response = await post(model.url, client, { user: "x" }, true);
      assert.equal(response.status, 200);
      let got = "";
      await assert.rejects(async () => {
        for await (const chunk of response.body ?? []) got += Buffer.from(chunk).toString("utf8");
      }, /terminated/);
      assert(sentEvents(got).length > 0, "it had begun");
      assert.match((await ask(model.url, client, { user: "x" }, true)).text, /^A whole text .* it\.$/);
    });

    test(`sends garbage instead of ${name}`, options, async () => {
      const model = await start([{ steps: [{ garbage: true }] }]);
      for (const stream of [true, false]) {
        const response = await post(model.url, client, { user: "x" }, stream);
        assert.equal(response.status, 200);
        const text = await response.text();
        assert.throws(() => JSON.parse(text));
        assert.throws(() => sentEvents(text));
      }
    });

    test(`floods in ${name}`, options, async () => {
      const model = await start([{ steps: [{ flood: 3_000_000 }] }]);
      const { text } = await ask(model.url, client, { user: "x" }, true);
      assert(text.length >= 3_000_000);
    });
  }

  test("a client that leaves in the middle of a flood costs nothing more", async () => {
    const model = await start([{ steps: [{ flood: 2 ** 40 }] }]);
    const response = await post(model.url, CLIENTS.anthropic, { user: "x" }, true);
    await response.body?.getReader().read();
    await model.close();
    models.splice(models.indexOf(model), 1);
    await assert.rejects(fetch(`${model.url}/v1/models`), /fetch failed/);
  });
});
