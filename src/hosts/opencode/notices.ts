import { askedAgainLine, inForceLine, policyEndLine } from "../../agents/opencode/log-line.ts";
import { RUN_ID_VARIABLE } from "../../agents/runner/run-files.ts";
import { asFields, asNumber, asString } from "../../kernel/json-fields.ts";
import { quietly } from "../time-limit.ts";
import type { OpenCodeClient } from "./types.ts";

const MAX_SHOWN = 300;

/** Tells a person who watches the program, and its log, what the rules did. Nothing waits for it, and nothing depends on it. */
export function notify(client: OpenCodeClient, text: string, level: "warn" | "info"): void {
  const message = `prloom: ${text}`.replace(/\s+/g, " ").slice(0, MAX_SHOWN);
  const variant = level === "warn" ? "warning" : "info";
  void log(client, level, message);
  void quietly(() => client.tui?.showToast?.({ body: { title: "prloom", message, variant } }));
}

const log = (client: OpenCodeClient, level: "error" | "warn" | "info", message: string): Promise<void> =>
  quietly(() => client.app?.log?.({ body: { service: "prloom", level, message } }));

/** Has the program print that the rules end the run: the dispatcher reads what it prints, and ends it. */
export function tellPrinted(client: OpenCodeClient, why: string): Promise<void> {
  return log(client, "error", policyEndLine(why));
}

/** Has it print that the rules are in force: without that, before the model answers, the dispatcher takes nothing of the run. */
export function tellInForce(client: OpenCodeClient): Promise<void> {
  return log(client, "error", inForceLine(process.env[RUN_ID_VARIABLE] ?? ""));
}

/** The program waits for its provider in silence, and tells only its plugins until when. */
export function tellRetry(client: OpenCodeClient, event: { type: string; properties?: unknown }): void {
  const status = asFields(asFields(event.properties).status);
  const next = asNumber(status.next);
  if (event.type !== "session.status" || status.type !== "retry" || next === undefined) return;
  void log(client, "error", askedAgainLine(Math.ceil(next), asString(status.message) ?? ""));
}
