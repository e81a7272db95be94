import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pluginFor } from "./plugin.ts";

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

test("hooks that come in another order than usual change no verdict, lose no evidence, and double nothing", async (t) => {
  const { hooks, call, facts } = await pluginFor(t);
  const steps = ["created", "message", "write", "denied", "turn", "summary", "compacted"] as const;
  const orders = permutations(steps).filter((_, at) => at % 42 === 0);
  for (const [at, order] of orders.entries()) {
    const session = `top-${at}`;
    const event = (type: string) =>
      hooks.event?.({ event: { type, properties: { sessionID: session, info: { id: session } } } });
    const messages = [{ info: { role: "user", sessionID: session }, parts: [{ type: "text", text: "Do it." }] }];
    const context: string[] = [];
    const acts: Readonly<Record<(typeof steps)[number], () => Promise<unknown> | undefined>> = {
      created: () => event("session.created"),
      message: () => hooks["chat.message"]?.({ sessionID: session }, {}),
      write: async () =>
        assert.equal(await call("write", { filePath: "src/a.ts", content: "x" }, undefined, session), "ran"),
      denied: async () => assert.match(await call("bash", { command: `git push o${at}` }, undefined, session), /BLOCK/),
      turn: () => hooks["experimental.chat.messages.transform"]?.({}, { messages }),
      summary: () => hooks["experimental.session.compacting"]?.({ sessionID: session }, { context }),
      compacted: () => event("session.compacted"),
    };
    for (const step of order) await acts[step]();
    const [summary, turn, over] = (["summary", "turn", "compacted"] as const).map((step) => order.indexOf(step));
    const isSummarised = summary! < turn! && !(summary! < over! && over! < turn!);
    const told = messages[0]?.parts[0]?.text.match(/<prloom-governance>/g)?.length ?? 0;
    assert.equal(told, isSummarised ? 0 : 1, order.join(", "));
    assert.match(context.join("\n"), /Build the form/, order.join(", "));
  }
  const recorded = () => facts().filter(({ type }) => type === "checkpoint").length;
  while (recorded() < orders.length) await setTimeout(5);
  assert.equal(recorded(), orders.length);
});
