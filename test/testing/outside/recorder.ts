import { definePlugin, type PluginMemory } from "prloom/plugin";
import { openService, type ServiceConfig } from "./service.ts";

/** The global plugin: records each call outside, counts it in its memory, and answers what it is told. */
// biome-ignore lint/style/noDefaultExport: prloom loads plugins by their default export
export default definePlugin<ServiceConfig>((config) => {
  const service = openService(config);
  const done = (ctx: PluginMemory, point: string, record: string): void => {
    service.append({ what: "hook", plugin: "recorder", point, record });
    ctx.setState(point, Number(ctx.getState(point) ?? 0) + 1);
  };
  const answer = async (point: string, record: string): Promise<void> => {
    const mood = service.mood(`${point} ${record}`);
    if (mood === "unavailable") throw new Error("503");
    await service.answer(mood);
  };
  return {
    onStartup(ctx) {
      done(ctx, "onStartup", "");
    },
    async onGlobalEvent(event, ctx) {
      done(ctx, "onGlobalEvent", event.id);
      if (event.type === "post.made") {
        ctx.reply(`re ${event.id}: ${event.body}`);
        ctx.emitComment({ target: "outside", token: "all" }, `seen ${event.id}`);
        if (event.body.includes("[notify]")) {
          ctx.emitNotification({ priority: "info", title: "A post", message: event.body });
        }
        ctx.markEventHandled(event.id);
      }
      if (event.type === "plan_status_changed") {
        const { planId, oldStatus, newStatus } = event.context;
        ctx.emitComment({ target: "outside", token: planId }, `${oldStatus} > ${newStatus}`);
      }
      const mood = service.mood(`onGlobalEvent ${event.id}`);
      if (mood === "unavailable") return ctx.markEventDeferred(event.id, "not now", 30);
      await service.answer(mood);
    },
    async beforeRoute(action, ctx) {
      done(ctx, "beforeRoute", action.id);
      const message = action.payload.type === "comment" ? action.payload.message : "";
      if (message.startsWith("re ") && message.includes("[block]")) ctx.markActionHandled(action.id);
      if (message.startsWith("re ") && message.includes("[echo]")) {
        ctx.emitComment({ target: "outside", token: "echo" }, `echo of ${action.id}`);
      }
      await answer("beforeRoute", action.id);
      const isElsewhere = message.startsWith("re ") && message.includes("[redirect]");
      return isElsewhere ? { target: { target: "outside", token: "elsewhere" } } : undefined;
    },
    async beforeUpsert(payload, ctx) {
      done(ctx, "beforeUpsert", `${payload.source.id} ${payload.planMarkdown?.length}`);
      await answer("beforeUpsert", `${payload.source.id} ${payload.planMarkdown?.length}`);
      return { proceed: true, payload: { ...payload, metadata: { ...payload.metadata, checked: true } } };
    },
    afterActivate(plan, ctx) {
      done(ctx, "afterActivate", plan.planId);
    },
  };
});
