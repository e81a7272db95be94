import { asFields, asFieldsList, asString, type JsonFields } from "../../kernel/json-fields.ts";

/** The part of the Agent Client Protocol that prloom speaks: https://agentclientprotocol.com, version 1. */
export const PROTOCOL_VERSION = 1;

/** JSON-RPC: "Method not found". */
export const UNKNOWN_METHOD = -32601;
/** The protocol's own: a login is needed first. */
export const AUTH_REQUIRED = -32000;

/** A request of ours, as a line. */
export function requestLine(id: number, method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

/** The answer to a request of the agent, as a line. */
export function answerLine(id: unknown, answer: { readonly result: unknown } | { readonly error: unknown }): string {
  return JSON.stringify({ jsonrpc: "2.0", id, ...answer });
}

/** What an agent is allowed that asks. */
export type Allowance = "always" | "once" | "never";

export interface PermissionAnswer {
  readonly allowed: boolean;
  /** As the protocol has it. */
  readonly outcome: JsonFields;
}

/** Which option is taken, by its kind. "Always" would be written into settings that outlive the run. */
const CHOICES: Readonly<Record<Allowance, readonly string[]>> = {
  always: ["allow_once", "allow_always", "reject_once", "reject_always"],
  // Without a sandbox these settings are the user's own.
  once: ["allow_once", "reject_once"],
  never: ["reject_once"],
};

/** What is answered when the agent asks whether it may. */
export function permissionAnswer(params: JsonFields, allowance: Allowance): PermissionAnswer {
  const options = asFieldsList(params.options);
  for (const kind of CHOICES[allowance]) {
    const optionId = asString(options.find((option) => option.kind === kind && asString(option.optionId))?.optionId);
    if (optionId === undefined) continue;
    return { allowed: kind.startsWith("allow"), outcome: { outcome: "selected", optionId } };
  }
  return { allowed: false, outcome: { outcome: "cancelled" } };
}

const READING = new Set(["read", "search", "think"]);

/** Whether a call only looks at something, as the agent says; it need not say anything. */
export function isReading({ kind }: JsonFields): boolean {
  return READING.has(asString(kind) ?? "");
}

/** What a permission that was refused was about. */
export function permissionQuestion({ kind, title }: JsonFields): string {
  const what = asString(title);
  return `May ${asString(kind) ?? "a tool"} be used?${what === undefined ? "" : ` ${what}`}`;
}

/** What an agent told about itself. */
export interface Capabilities {
  readonly version: unknown;
  /** The request that goes on with an earlier conversation, where there is one. */
  readonly resume?: "session/resume" | "session/load";
  /** Ways to log in, by the names that people know. */
  readonly logins: readonly string[];
}

/** Reads the answer to `initialize`. */
export function capabilitiesOf(result: JsonFields): Capabilities {
  const offered = asFields(result.agentCapabilities);
  const resumes = asFields(offered.sessionCapabilities).resume;
  // `load` tells the whole conversation once more; `resume` does not.
  const resume =
    resumes !== undefined && resumes !== null ? "session/resume" : offered.loadSession ? "session/load" : "";
  const logins = asFieldsList(result.authMethods).flatMap((method) => asString(method.name) ?? []);
  return { version: result.protocolVersion, logins, ...(resume === "" ? {} : { resume }) };
}

/** A request that chooses a model. */
export interface Choosing {
  readonly method: string;
  readonly params: unknown;
}

/** Which model a session has, and how another one is chosen; absent where the agent offers no choice. */
export interface ModelChoice {
  readonly current: string | undefined;
  choose(sessionId: string, model: string): Choosing;
}

/** Reads the answer to `session/new` and its like; there are two ways to tell about models. */
export function modelChoiceOf(result: JsonFields): ModelChoice | undefined {
  const option = asFieldsList(result.configOptions).find(
    ({ category, id }) => category === "model" && id !== undefined,
  );
  if (option) {
    return {
      current: asString(option.currentValue),
      choose: (sessionId, value) => ({
        method: "session/set_config_option",
        params: { sessionId, configId: option.id, value },
      }),
    };
  }
  if (result.models === undefined || result.models === null) return undefined;
  return {
    current: asString(asFields(result.models).currentModelId),
    choose: (sessionId, modelId) => ({ method: "session/set_model", params: { sessionId, modelId } }),
  };
}
