import { scopeOf } from "../../bus/types.ts";
import { type Clock, isoTime } from "../../kernel/clock.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { errnoOf } from "../../kernel/errors.ts";
import { ownValue } from "../../kernel/json-fields.ts";
import type { Environment } from "../../kernel/system/environment.ts";
import type { BridgeContext, BuiltinBridge, DeliveryResult } from "../contract.ts";
import { ARRIVED, type ChannelOutcome, refused } from "./channel-outcome.ts";
import { showOnDesktop } from "./desktop.ts";
import { type Notice, noticeOf, plainLine, shortened } from "./notice.ts";
import { post } from "./post.ts";
import { channelsFor, effectiveSettings, type NotifySettings, secretVariables } from "./settings.ts";

/** The address of the people who look after the repository. */
export const HUMAN_TARGET = "human";

type ReportLevel = "info" | "warn" | "bad";

export interface NotifyBridgeOptions {
  /** `notify` of the config; without any channel, notices are lines of the dispatcher's progress. */
  readonly notify: NotifySettings | undefined;
  readonly environment: Environment;
  readonly report: (line: { planId?: string; level: ReportLevel; text: string }) => void;
  readonly clock: Clock;
}

/** Notices that are under way at once; beyond it the oldest are forgotten, and a retry of them goes to all channels. */
const REMEMBERED = 1000;

/**
 * Tells people. Delivery is at least once: a desktop or a chat cannot be asked what it has shown, so a notice whose call
 * was cut off by a kill is sent again. Webhooks get the action's id as `Idempotency-Key` and can tell. Within one
 * process a retry goes only to the channels that have not answered yet.
 */
export function notifyBridge(options: NotifyBridgeOptions): BuiltinBridge {
  const settings = effectiveSettings(options.notify);
  const secrets = secretVariables(settings);
  const environment = Object.fromEntries(Object.entries(options.environment).filter(([name]) => !secrets.has(name)));
  const channels: Channels = { ...options, settings, programEnvironment: environment };
  const underWay = new Map<string, Map<string, ChannelOutcome>>();
  return {
    name: "notify",
    targets: [HUMAN_TARGET],
    async actions(ctx, action): Promise<DeliveryResult> {
      const notice = noticeOf(action, ctx.planId);
      if ("refused" in notice) return { success: false, error: notice.refused, retryable: false };
      const outcomes = underWay.get(action.id) ?? new Map<string, ChannelOutcome>();
      remember(underWay, action.id, outcomes);
      const names = channelsFor(settings, notice.priority);
      const open = names.filter((name) => (outcomes.get(name)?.is ?? "transport") === "transport");
      await Promise.all(
        open.map(async (name) => outcomes.set(name, await sendSafely(channels, { name, notice, ctx }))),
      );
      const result = resultOf(names, outcomes);
      if (result.delivery.success || !result.delivery.retryable) underWay.delete(action.id);
      if (result.delivery.success && result.failed !== "") {
        const text = `"${plainLine(notice.title)}" did not get everywhere: ${result.failed}`;
        options.report({ ...scopeOf(notice.planId), level: "warn", text });
      }
      return result.delivery;
    },
  };
}

function remember<T>(map: Map<string, T>, id: string, value: T): void {
  map.set(id, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED && oldest !== undefined) map.delete(oldest);
}

/**
 * What the channels' outcomes mean together: it goes on while one may still be reached; after that it has arrived when
 * one person could see it anywhere. A route without channels is a wish for silence.
 */
export function resultOf(
  names: readonly string[],
  outcomes: ReadonlyMap<string, ChannelOutcome>,
): { readonly delivery: DeliveryResult; readonly failed: string } {
  const all = names.map((name) => ({ name, outcome: outcomes.get(name) ?? refused("it was not tried") }));
  const failed = all.flatMap(({ name, outcome }) => (outcome.is === "arrived" ? [] : [`${name}: ${outcome.reason}`]));
  const text = failed.join("; ");
  const broken = all.flatMap(({ outcome }) => (outcome.is === "transport" ? [outcome] : []));
  if (broken.length > 0) {
    const waits = broken.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
    const wait = waits.length === 0 ? {} : { retryAfterMs: Math.max(...waits) };
    return { delivery: { success: false, error: text, retryable: true, ...wait }, failed: text };
  }
  const isLost = failed.length > 0 && failed.length === all.length;
  return { delivery: isLost ? { success: false, error: text, retryable: false } : { success: true }, failed: text };
}

interface Channels extends NotifyBridgeOptions {
  readonly settings: NotifySettings;
  /** Without our secrets: for programs. */
  readonly programEnvironment: Environment;
}

interface Sending {
  readonly name: string;
  readonly notice: Notice;
  readonly ctx: Pick<BridgeContext, "signal">;
}

/** A channel that breaks in an unexpected way must not keep the notice from the others. */
async function sendSafely(channels: Channels, sending: Sending): Promise<ChannelOutcome> {
  try {
    const outcome = await send(channels, sending);
    crashPoint("notify:sent");
    return outcome;
  } catch (error) {
    // Not the message: it may quote what a variable holds.
    return refused(`it failed (${errnoOf(error) ?? (error instanceof Error ? error.name : typeof error)})`);
  }
}

async function send(channels: Channels, { name, notice, ctx }: Sending): Promise<ChannelOutcome> {
  const { settings, environment, clock, programEnvironment, report } = channels;
  const channel = ownValue(settings.channels, name);
  if (!channel) return refused("notify.channels has no such channel");
  const { signal } = ctx;
  switch (channel.kind) {
    case "terminal":
      report({ ...scopeOf(notice.planId), ...terminalLine(notice) });
      return ARRIVED;
    case "desktop":
      return showOnDesktop(notice, { environment: programEnvironment, signal });
    case "slack":
      return post({ urlEnv: channel.urlEnv, body: slackBody(notice) }, { environment, signal, clock });
    case "webhook": {
      const body = { ...notice, at: isoTime(clock.now()) };
      const headers = { "Idempotency-Key": notice.id };
      const { urlEnv, headersEnv } = channel;
      return post({ urlEnv, headersEnv, headers, body }, { environment, signal, clock });
    }
    default:
      return channel satisfies never;
  }
}

const LEVELS = { urgent: "bad", action: "warn", warning: "warn", info: "info" } as const;
const MAX_LINE_CHARACTERS = 300;

/** A notice as a line of the dispatcher's progress. */
function terminalLine({ priority, title, message }: Notice): { level: ReportLevel; text: string } {
  const words = [plainLine(title), plainLine(message)].filter((part) => part !== "").join(": ");
  return { level: LEVELS[priority], text: shortened(words, MAX_LINE_CHARACTERS) };
}

/** A notice as a message of Slack, where `<…>` would make links and call people. */
function slackBody({ priority, title, message }: Notice): { text: string } {
  const escaped = (text: string): string =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const mark = priority === "info" ? "" : `[${priority}] `;
  const lines = [`${mark}*${escaped(plainLine(title))}*`, escaped(message.trim())];
  return { text: lines.filter((line) => line !== "").join("\n") };
}
