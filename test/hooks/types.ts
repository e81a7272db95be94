/** What the compiler tells authors of plugins. Never run: `tsc` fails when one of these stops being true. */
import { type Bridge, defineBridge, definePlugin, type Hooks, type PlanSummary, type ThrowEffect } from "prloom/plugin";
import type {
  ActivateContext,
  EventContext,
  GlobalEventContext,
  RouteContext,
  StartupContext,
  TextContext,
  UpsertContext,
} from "../../src/hooks/contexts/context-types.ts";
import type { CONTEXT_MEMBERS } from "./contexts/matrix.ts";

declare module "prloom/plugin" {
  interface EventContexts {
    test_card_moved: { column: string };
  }
}

type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Listed<Point extends keyof typeof CONTEXT_MEMBERS> = (typeof CONTEXT_MEMBERS)[Point][number];
/** Global contexts name these two only to say that they are undefined. */
type Members<Context> = Exclude<keyof Context, "planId" | "worktree">;

/** The table of the documentation is the table of the types. */
export const MATRIX_IS_TRUE: {
  onStartup: Equal<Members<StartupContext>, Listed<"onStartup">>;
  onGlobalEvent: Equal<Members<GlobalEventContext>, Listed<"onGlobalEvent">>;
  beforeRoute: Equal<Members<RouteContext>, Listed<"beforeRoute">>;
  beforeUpsert: Equal<Members<UpsertContext>, Listed<"beforeUpsert">>;
  afterActivate: Equal<Members<ActivateContext>, Listed<"afterActivate">>;
  onEvent: Equal<keyof EventContext, Listed<"onEvent">>;
  afterDesign: Equal<keyof TextContext<"afterDesign">, Listed<"afterDesign">>;
  beforeTodo: Equal<keyof TextContext<"beforeTodo">, Listed<"beforeTodo">>;
  afterTodo: Equal<keyof TextContext<"afterTodo">, Listed<"afterTodo">>;
  beforeFinish: Equal<keyof TextContext<"beforeFinish">, Listed<"beforeFinish">>;
  afterFinish: Equal<keyof TextContext<"afterFinish">, Listed<"afterFinish">>;
} = {
  onStartup: true,
  onGlobalEvent: true,
  beforeRoute: true,
  beforeUpsert: true,
  afterActivate: true,
  onEvent: true,
  afterDesign: true,
  beforeTodo: true,
  afterTodo: true,
  beforeFinish: true,
  afterFinish: true,
};

export const plugin = definePlugin<{ readonly column: string }>((config) => ({
  onEvent(event, ctx) {
    if (event.type === "comment") {
      const login: string = event.context.author.login;
      ctx.log.info(login);
      // @ts-expect-error a comment has no hashes
      ctx.log.info(event.context.newHash);
    }
    // An event type that a bridge declared.
    if (event.type === "test_card_moved" && event.context.column === config.column) ctx.markEventHandled(event.id);
    // @ts-expect-error an event may have no replyTo
    ctx.emitComment(event.replyTo, "x");
    // @ts-expect-error an address cannot be undefined
    ctx.emitReview(undefined, { verdict: "comment", summary: "", comments: [] });
    // @ts-expect-error there may have been no address to reply to
    const replied: string = ctx.reply("seen", { key: "seen" });
    ctx.markEventHandled();
    ctx.markEventDeferred(replied, 1000);
    ctx.markEventDeferred(event.id, "not yet", 1000);
    // @ts-expect-error the time comes after the reason
    ctx.markEventDeferred(1000);
    // @ts-expect-error plan hooks see their own plan only
    void ctx.listPlans();
    // @ts-expect-error methods are merge, squash and rebase
    ctx.emitMerge(event.replyTo, "octopus");
    // @ts-expect-error only JSON is kept
    ctx.setState("when", new Date());
  },
  async onGlobalEvent(event, ctx) {
    if (event.type === "plan_edited") {
      const changed: boolean = event.context.digestChanged;
      const plan = await ctx.readPlan(event.context.planId);
      if (changed && plan) ctx.setState("total", plan.progress.total);
    }
    if (event.type === "issue.opened") ctx.log.info(String(event.context?.number));
    const plans: PlanSummary[] = await ctx.listPlans({ status: ["draft", "queued"], source: { system: "github" } });
    ctx.log.info(String(plans.length));
    // @ts-expect-error global hooks name the plan
    await ctx.readPlan();
    // @ts-expect-error agents run in the worktree of a plan
    await ctx.runAgent("hello");
    const none: undefined = ctx.planId;
    return none;
  },
  beforeRoute(action, ctx) {
    if (action.payload.type === "merge") {
      const method: "merge" | "squash" | "rebase" = action.payload.method;
      ctx.log.info(method);
      ctx.markActionHandled(action.id);
    }
    // @ts-expect-error a comment or a review has no method
    if (action.payload.type === "comment") ctx.log.info(action.payload.method);
    // @ts-expect-error actions are marked, not events
    ctx.markEventHandled(action.id);
    return action.payload.type === "comment" ? { target: { target: "local" } } : undefined;
  },
  beforeUpsert: (payload) =>
    payload.title === undefined
      ? { reject: true, reason: "no title" }
      : { proceed: true, payload: { ...payload, title: payload.title.trim() } },
  beforeTodo: (text, ctx) => `${text}${ctx.todo}`,
  afterTodo(text, ctx) {
    // @ts-expect-error afterTodo has todoCompleted
    return text + ctx.todo;
  },
  async afterFinish() {
    await Promise.resolve();
  },
}));

interface Counts {
  readonly rounds: number;
  readonly seen: readonly string[];
}

export const typed = definePlugin<object, Counts>(() => ({
  onEvent(event, ctx) {
    const rounds: number = ctx.getState("rounds") ?? 0;
    ctx.setState("rounds", rounds + 1);
    ctx.setGlobalState("seen", [...(ctx.getGlobalState("seen") ?? []), event.id]);
    ctx.setState("seen", undefined);
    // @ts-expect-error a key that the state does not have
    ctx.getState("round");
    // @ts-expect-error rounds is a number
    ctx.setState("rounds", "1");
  },
  beforeFinish(_plan, ctx) {
    // @ts-expect-error a list of strings
    const seen: string = ctx.getState("seen");
    return seen;
  },
}));

// @ts-expect-error only JSON is kept
definePlugin<object, { when: Date }>(() => ({}));

/** What a throw leads to is in the types. */
export const THROWS: {
  event: ThrowEffect<"onEvent">;
  text: ThrowEffect<"afterTodo">;
  start: ThrowEffect<"onStartup">;
} = {
  event: "retried",
  text: "plan blocked",
  start: "start fails",
};

// @ts-expect-error the hook is called onEvent
export const misspelt: Hooks = { onEvnt: () => undefined };

// @ts-expect-error an event hook gets an event, not a string
export const wrong: Hooks = { onEvent: (text: string) => text };

// @ts-expect-error beforeUpsert must decide
export const undecided: Hooks = { beforeUpsert: () => undefined };

export const bridge = defineBridge<{ readonly url: string }, { readonly page: number }>(
  (config): Bridge<{ readonly url: string }, { readonly page: number }> => ({
    name: config.url,
    targets: ["board"],
    events: (ctx, state) => ({ events: [], state: { page: (state?.page ?? 0) + ctx.config.url.length } }),
    actions: (_ctx, action) =>
      action.payload.type === "comment" ? { success: true } : { success: false, error: "no", retryable: false },
  }),
);
