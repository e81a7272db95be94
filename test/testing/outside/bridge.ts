import { actionMarker, type BridgeEvent, defineBridge, type NewAction, type PluginAction } from "prloom/plugin";
import { type IntakeItem, openService, type ServiceConfig } from "./service.ts";

interface Config extends ServiceConfig {
  readonly name: string;
}

/** How many items one poll takes: several polls for one load. */
const PAGE = 3;

// biome-ignore lint/style/noDefaultExport: prloom loads bridges by their default export
export default defineBridge<Config, number>(({ name, ...config }) => {
  const service = openService(config);
  return {
    name,
    targets: [name],
    async events(ctx, last = 0) {
      const folder = ctx.planId ?? "global";
      const mood = service.mood(`poll ${folder}`);
      if (mood === "unavailable") throw new Error("503");
      const items = service.itemsAfter(folder, last).slice(0, PAGE);
      await service.answer(mood);
      const events = items.map((found) => eventOf({ ...found, name, folder }));
      const actions = items.flatMap(({ item }, index) => upsertsOf(item, events[index]?.id ?? ""));
      return { events, actions, ...(items.length > 0 && { state: items.at(-1)?.number ?? last }) };
    },
    async actions(_ctx, action) {
      const mood = service.mood(`deliver ${action.id}`);
      if (mood === "unavailable") return { success: false, error: "503", retryable: true, retryAfterMs: 30 };
      if (mood === "slow") await service.answer(mood);
      service.append({ what: "delivered", bridge: name, action: action.id, ...saidIn(action) });
      // Half of the lost answers are a gateway's word, the others a connection that breaks.
      if (mood === "lost" && action.id.charCodeAt(action.id.length - 1) % 2 === 0) {
        return { success: false, error: "502", retryable: true, retryAfterMs: 30 };
      }
      await service.answer(mood);
      return { success: true };
    },
    async delivered(_ctx, action) {
      await service.answer(service.mood(`look ${action.id}`));
      return service.has(actionMarker(action));
    },
  };
});

interface Found {
  readonly number: number;
  readonly item: IntakeItem;
  readonly name: string;
  readonly folder: string;
}

function eventOf({ number, item, name, folder }: Found): BridgeEvent {
  const isPlan = folder !== "global";
  const { plan } = item.kind === "post" ? item : {};
  return {
    id: `${name}-${folder}-${number}`,
    source: name,
    type: item.kind === "source" ? "source.changed" : isPlan || plan !== undefined ? "comment" : "post.made",
    severity: "info",
    title: `${folder} ${number}`,
    body: item.kind === "post" ? item.body : "",
    replyTo: { target: name, token: isPlan ? folder : `thread-${number % 3}` },
    context: { author: { login: "ada", permission: "write" } },
    ...(plan === undefined ? {} : { plan }),
  };
}

function upsertsOf(item: IntakeItem, relatedEventId: string): NewAction[] {
  if (item.kind !== "source") return [];
  const source = { system: "outside", kind: "item", id: item.source };
  const payload = { type: "upsert_plan" as const, source, planMarkdown: item.text, status: item.status };
  return [{ target: { target: "prloom-core" }, relatedEventId, payload }];
}

function saidIn(action: PluginAction): { token: string; message: string; marker: string } {
  const message = action.payload.type === "comment" ? action.payload.message : action.payload.type;
  return { token: action.target.token ?? "", message, marker: actionMarker(action) };
}
