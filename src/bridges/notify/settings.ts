import type { Notification } from "../../hooks/contexts/event-types.ts";

export type Priority = Notification["priority"];

/** One way to reach a person. Secrets are named by environment variable, never written down. */
export type NotifyChannel =
  | { readonly kind: "desktop" }
  | { readonly kind: "terminal" }
  | { readonly kind: "slack"; readonly urlEnv: string }
  | {
      readonly kind: "webhook";
      readonly urlEnv: string;
      /** Header name → the environment variable that holds its value. */
      readonly headersEnv?: Readonly<Record<string, string>> | undefined;
    };

/** `notify` of the config: the channels by name, and which of them hear of which priority. */
export interface NotifySettings {
  readonly channels: Readonly<Record<string, NotifyChannel>>;
  readonly routes: { readonly [priority in Priority]?: readonly string[] | undefined };
  /** For priorities without a route. An empty list keeps silent. */
  readonly default: readonly string[];
}

const ONLY_TERMINAL: NotifySettings = {
  channels: { terminal: { kind: "terminal" } },
  routes: {},
  default: ["terminal"],
};

/** What counts when nothing was configured: the person who watches the dispatcher reads it there. */
export function effectiveSettings(settings: NotifySettings | undefined): NotifySettings {
  return settings && Object.keys(settings.channels).length > 0 ? settings : ONLY_TERMINAL;
}

/** The names of the channels for a priority, each once. */
export function channelsFor(settings: NotifySettings, priority: Priority): string[] {
  return [...new Set(settings.routes[priority] ?? settings.default)];
}

/** The variables that hold secrets: no program that we start needs them. */
export function secretVariables(settings: NotifySettings): Set<string> {
  return new Set(
    Object.values(settings.channels).flatMap((channel) => {
      if (channel.kind === "slack") return [channel.urlEnv];
      if (channel.kind === "webhook") return [channel.urlEnv, ...Object.values(channel.headersEnv ?? {})];
      return [];
    }),
  );
}
