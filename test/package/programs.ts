/** Programs as authors write them: what compiles against the installed package, and what must not. */

export const GOOD_PLUGIN = `
import { definePlugin, type EventAuthor, type PlanSource, type ReplyAddress } from "prloom/plugin";

declare module "prloom/plugin" {
  interface EventContexts {
    card_moved: { column: string };
  }
}

interface Config { readonly column: string }

export default definePlugin<Config>((config) => ({
  onEvent(event, ctx) {
    if (event.type === "card_moved" && event.context.column === config.column) ctx.markEventHandled(event.id);
    if (event.type === "comment") {
      const author: EventAuthor = event.context.author;
      ctx.log.info(author.login);
    }
    const address: ReplyAddress | undefined = event.replyTo;
    ctx.emitComment(address, "seen", { key: "seen" });
    ctx.emitAction({ target: { target: "local" }, payload: { type: "add_labels", labels: ["a"] as const } });
    ctx.setState("count", Number(ctx.getState("count") ?? 0) + 1);
    if (ctx.signal.aborted) ctx.markEventDeferred(event.id, "stopped", 1000);
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
  beforeRoute: (action) => (action.payload.type === "merge" ? { target: { target: "local" } } : undefined),
}));
`;

export const GOOD_BRIDGE = `
import { actionMarker, type BridgeEvent, defineBridge, type DeliveryResult } from "prloom/plugin";

type Cursor = { readonly page: number };

export default defineBridge<{ readonly url: string }, Cursor>((config) => ({
  name: "tracker",
  targets: ["tracker"],
  async events(ctx, state) {
    const event: BridgeEvent = {
      id: "tracker-1",
      source: "tracker",
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
      actions: [{ target: { target: "prloom-core" }, payload: { type: "upsert_plan", source, status: "queued" } }],
    };
  },
  actions(_ctx, action): DeliveryResult {
    if (action.payload.type !== "comment") return { success: false, error: "cannot", retryable: false };
    return actionMarker(action) === "" ? { success: false, error: "gone", retryable: true } : { success: true };
  },
}));
`;

export const GOOD_EMBEDDER = `
import { type ErrorCode, PrloomError } from "prloom";

const code: ErrorCode = new PrloomError("usage", "message", "hint").code;
export const isUsage: boolean = code === "usage";
`;

const plugin = (body: string): string =>
  `import { definePlugin } from "prloom/plugin";\nexport default definePlugin(() => ({ ${body} }));\n`;
const poll = (result: string): string =>
  `import { defineBridge } from "prloom/plugin";\nexport default defineBridge(() => ({ name: "b", events: () => (${result}) }));\n`;
const EVENT = `id: "a", source: "b", type: "c", title: "d", body: "e"`;

/** By what is wrong: the program, and the code of the error that the compiler must find. */
export const WRONG: Readonly<Record<string, { readonly text: string; readonly code: string }>> = {
  "a hook that does not exist": { text: plugin("onEvnt(): void {}"), code: "TS2322" },
  "an event handled by another's name": {
    text: plugin("onEvent(event, ctx) { ctx.markEventHandled(event); }"),
    code: "TS2345",
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
  "an error code that does not exist": {
    text: `import { PrloomError } from "prloom";\nexport const error = new PrloomError("no-such-code", "a", "b");\n`,
    code: "TS2345",
  },
};
