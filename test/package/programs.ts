/** Programs as authors write them: what compiles against the installed package, and what must not. */

export const GOOD_PLUGIN = `
import {
  appendTodos, definePlugin, type EventAuthor, type EventContext, mayWrite, type PlanSource, type ReplyAddress, type ThrowEffect,
} from "prloom/plugin";

declare module "prloom/plugin" {
  interface EventContexts {
    card_moved: { column: string };
  }
}

interface Config { readonly column: string }
interface State { readonly count: number; readonly seen?: readonly string[] }

export const retried: ThrowEffect<"onEvent" | "beforeRoute"> = "retried";
export const blocked: ThrowEffect<"beforeFinish"> = "plan blocked";

function note(ctx: EventContext<State>): number {
  return (ctx.getGlobalState("seen") ?? []).length;
}

export default definePlugin<Config, State>((config) => ({
  onEvent(event, ctx) {
    if (event.type === "card_moved" && event.context.column === config.column) ctx.markEventHandled(event.id);
    else ctx.markEventHandled();
    if (!mayWrite(event)) return;
    const replied: string | undefined = ctx.reply("seen", { key: "seen" });
    ctx.setGlobalState("seen", [replied ?? event.id, String(note(ctx))]);
    if (event.type === "comment") {
      const author: EventAuthor = event.context.author;
      ctx.log.info(author.login);
    }
    if (event.type === "agent_message") ctx.log.info(event.context.author.permission);
    const address: ReplyAddress | undefined = event.replyTo;
    if (address) ctx.emitComment(address, "seen", { key: "seen" });
    ctx.emitAction({ target: { target: "local" }, payload: { type: "add_labels", labels: ["a"] as const } });
    ctx.emitAction({ type: "respond", id: "close-1", target: { target: "local" }, payload: { type: "close_pr" } });
    ctx.setState("count", (ctx.getState("count") ?? 0) + 1);
    if (ctx.signal.aborted) ctx.markEventDeferred(event.id, "stopped", 1000);
    if (ctx.signal.aborted) ctx.markEventDeferred("stopped", 1000);
    if (ctx.signal.aborted) ctx.markEventDeferred();
    ctx.signal.addEventListener("abort", () => ctx.log.warn("stopped"), { once: true });
  },
  async beforeTodo(plan, ctx) {
    const answer: string = await ctx.runAgent(\`Look at \${ctx.todo}\`, { stage: "reviewer", timeoutMs: 60_000 });
    return answer === "" ? undefined : plan;
  },
  async beforeUpsert(payload, ctx) {
    const source: PlanSource = payload.source;
    const plans = await ctx.listPlans({ source });
    const first = plans[0];
    if (first?.blocked?.cause === "person") return { reject: true, reason: first.blocked.reason };
    return { proceed: true, payload: { ...payload, title: payload.title ?? source.id } };
  },
  beforeFinish: (plan) => appendTodos(plan, ["Update the changelog", { text: "Look again", context: "At all of it." }]),
  beforeRoute: (action) => (action.payload.type === "merge" ? { target: { target: "local" } } : undefined),
}));
`;

export const GOOD_BRIDGE = `
import { actionMarker, type BridgeEvent, defineBridge, type DeliveryResult } from "prloom/plugin";

type Cursor = { readonly page: number };

export const named = defineBridge(() => ({ name: "tracker", events: () => ({ events: [] }) }));

export default defineBridge<{ readonly url: string }, Cursor>((config) => ({
  targets: ["tracker"],
  async events(ctx, state) {
    const event: BridgeEvent = {
      id: "tracker-1",
      type: "issue.opened",
      severity: "info",
      title: config.url,
      body: ctx.repoRoot,
      context: { author: { login: "ann", permission: "write" }, labels: ["x"] },
    };
    const page = (state?.page ?? 0) + 1;
    const source = { system: "tracker", kind: "issue", id: "1" };
    return {
      events: [event],
      state: { page },
      actions: [
        { target: { target: "prloom-core" }, payload: { type: "upsert_plan", source, status: "queued" } },
        { type: "respond", id: "tracker-close-1", target: { target: "local" }, payload: { type: "close_pr" } },
      ],
    };
  },
  actions(_ctx, action): DeliveryResult {
    if (action.payload.type !== "comment") return { success: false, error: "cannot", retryable: false };
    return actionMarker(action) === "" ? { success: false, error: "gone", retryable: true } : { success: true };
  },
}));
`;

const plugin = (body: string): string =>
  `import { definePlugin } from "prloom/plugin";\nexport default definePlugin(() => ({ ${body} }));\n`;
const stateful = (body: string): string =>
  `import { definePlugin } from "prloom/plugin";\nexport default definePlugin<object, { count: number }>(() => ({ ${body} }));\n`;
const poll = (result: string): string =>
  `import { defineBridge } from "prloom/plugin";\nexport default defineBridge(() => ({ events: () => (${result}) }));\n`;
const EVENT = `id: "a", type: "c", title: "d", body: "e"`;

/** By what is wrong: the program, and the code of the error that the compiler must find. */
export const WRONG: Readonly<Record<string, { readonly text: string; readonly code: string }>> = {
  "a hook that does not exist": { text: plugin("onEvnt(): void {}"), code: "TS2322" },
  "an event handled by another's name": {
    text: plugin("onEvent(event, ctx) { ctx.markEventHandled(event); }"),
    code: "TS2345",
  },
  "an answer to an event that may have no address": {
    text: plugin(`onEvent(event, ctx) { ctx.emitComment(event.replyTo, "x"); }`),
    code: "TS2345",
  },
  "a merge at an address that may be missing": {
    text: plugin("onEvent(event, ctx) { ctx.emitMerge(event.replyTo); }"),
    code: "TS2345",
  },
  "an action without an address": {
    text: plugin(`onEvent(event, ctx) { ctx.emitAction({ target: event.replyTo, payload: { type: "close_pr" } }); }`),
    code: "TS2322",
  },
  "an action of a type that does not exist": {
    text: plugin(
      `onEvent(_e, ctx) { ctx.emitAction({ type: "answer", target: { target: "a" }, payload: { type: "close_pr" } }); }`,
    ),
    code: "TS2322",
  },
  "a reply whose id is taken for certain": {
    text: plugin(`onEvent(_e, ctx) { const id: string = ctx.reply("x"); ctx.log.info(id); }`),
    code: "TS2322",
  },
  "a reply in a hook that has no event": { text: plugin(`onStartup(ctx) { ctx.reply("x"); }`), code: "TS2339" },
  "a time to wait without a reason": {
    text: plugin("onEvent(_e, ctx) { ctx.markEventDeferred(1000); }"),
    code: "TS2769",
  },
  "a key that the state does not have": {
    text: stateful(`onEvent(_e, ctx) { ctx.getState("cuont"); }`),
    code: "TS2345",
  },
  "a value that the state's key does not have": {
    text: stateful(`onEvent(_e, ctx) { ctx.setGlobalState("count", "1"); }`),
    code: "TS2345",
  },
  "state that is not JSON": {
    text: `import { definePlugin } from "prloom/plugin";\nexport default definePlugin<object, { when: Date }>(() => ({}));\n`,
    code: "TS2344",
  },
  "the rights of an author instead of an event": {
    text: `import { mayWrite } from "prloom/plugin";\nexport const may = mayWrite({ login: "ann", permission: "write" });\n`,
    code: "TS2353",
  },
  "a TODO that is not a string": {
    text: `import { appendTodos } from "prloom/plugin";\nexport const plan = appendTodos("", [5]);\n`,
    code: "TS2322",
  },
  "a throw that is said to be retried where it blocks": {
    text: `import type { ThrowEffect } from "prloom/plugin";\nexport const effect: ThrowEffect<"afterTodo"> = "retried";\n`,
    code: "TS2322",
  },
  "an address without a target": {
    text: plugin(`onEvent(event, ctx) { ctx.emitComment({ token: event.id }, "x"); }`),
    code: "TS2741",
  },
  "an address with a wrong member": {
    text: `import type { ReplyAddress } from "prloom/plugin";\nexport const to: ReplyAddress = { target: "a", tokn: "b" };\n`,
    code: "TS2561",
  },
  "a source without an id": {
    text: `import type { PlanSource } from "prloom/plugin";\nexport const from: PlanSource = { system: "a", kind: "b" };\n`,
    code: "TS2741",
  },
  "a member that this hook's context does not have": {
    text: plugin("afterDesign(plan, ctx) { return plan + ctx.todo; }"),
    code: "TS2339",
  },
  "a text hook that returns a number": { text: plugin("beforeFinish: () => 5"), code: "TS2322" },
  "an agent of a stage that does not exist": {
    text: plugin(`async afterTodo(_plan, ctx) { await ctx.runAgent("x", { stage: "tester" }); }`),
    code: "TS2322",
  },
  "a payload that does not exist": {
    text: plugin(`onEvent(_e, ctx) { ctx.emitAction({ target: { target: "a" }, payload: { type: "comment" } }); }`),
    code: "TS2322",
  },
  "an event with a bad severity": {
    text: poll(`{ events: [{ ${EVENT}, severity: "fatal" as const }] }`),
    code: "TS2322",
  },
  "an event without a severity": { text: poll(`{ events: [{ ${EVENT} }] }`), code: "TS2322" },
  "a poll without events": { text: poll("{ state: 1 }"), code: "TS2322" },
  "prloom itself, which offers nothing to import": { text: `export { PrloomError } from "prloom";\n`, code: "TS2307" },
};
