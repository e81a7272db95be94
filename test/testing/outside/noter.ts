import { definePlugin, type EventContext, type PluginEvent, type PluginMemory } from "prloom/plugin";
import { openService, type ServiceConfig } from "./service.ts";

/** The plan plugin: records each call outside, counts it for the plan and over all plans, and takes `/note` and `/merge`. */
// biome-ignore lint/style/noDefaultExport: prloom loads plugins by their default export
export default definePlugin<ServiceConfig>((config) => {
  const service = openService(config);
  const done = (ctx: PluginMemory, point: string, record: string): void => {
    service.append({ what: "hook", plugin: "noter", point, record });
    ctx.setState(point, Number(ctx.getState(point) ?? 0) + 1);
    ctx.setGlobalState(point, Number(ctx.getGlobalState(point) ?? 0) + 1);
  };
  const textHook = (text: string, ctx: PluginMemory & { planId: string; hookPoint: string }, todo = ""): string => {
    done(ctx, ctx.hookPoint, `${ctx.planId} ${todo}`.trim());
    return text;
  };
  return {
    async onEvent(event, ctx) {
      done(ctx, "onEvent", event.id);
      if (event.body.startsWith("/")) {
        ctx.markEventHandled(event.id);
        obey(event, ctx);
      }
      const mood = service.mood(`onEvent ${event.id}`);
      if (mood === "unavailable") throw new Error("503");
      await service.answer(mood);
    },
    // Below everything else: text that is written twice has the line twice.
    afterDesign: (text, ctx) => `${textHook(text, ctx)}\n## Notes\n\nDesigned.\n`,
    beforeTodo: (text, ctx) => void textHook(text, ctx, ctx.todo),
    afterTodo(text, ctx) {
      textHook(text, ctx, ctx.todoCompleted);
      ctx.emitComment({ target: "outside", token: ctx.planId }, `done: ${ctx.todoCompleted}`);
    },
    beforeFinish: (text, ctx) => void textHook(text, ctx),
    afterFinish: (text, ctx) => void textHook(text, ctx),
  };
});

function obey(event: PluginEvent, ctx: EventContext) {
  if (event.body.startsWith("/merge")) {
    if (event.replyTo) ctx.emitMerge(event.replyTo, "merge");
    return;
  }
  ctx.reply(`noted ${event.id}`);
  ctx.emitComment({ target: "forum", token: ctx.planId }, `note ${event.body}`);
}
