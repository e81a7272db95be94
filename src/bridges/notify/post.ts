import type { Clock } from "../../kernel/clock.ts";
import { errnoOf } from "../../kernel/errors.ts";
import type { Environment } from "../../kernel/system/environment.ts";
import { ARRIVED, CHANNEL_MS, type ChannelOutcome, refused } from "./channel-outcome.ts";

export interface PostRequest {
  /** The variable that holds the address. */
  readonly urlEnv: string;
  /** Header name → the variable that holds its value. */
  readonly headersEnv?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface PostPort {
  readonly environment: Environment;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

const MAX_WAIT_MS = 60 * 60 * 1000;

/**
 * Posts JSON. What it says about failures is made of our own words, names of variables, numbers and error codes: the
 * messages of fetch and URL quote addresses and headers, and the answer of a server may quote anything.
 */
export async function post(request: PostRequest, port: PostPort): Promise<ChannelOutcome> {
  const url = secretUrl(request.urlEnv, port.environment);
  if (!url.ok) return refused(url.reason);
  const headers = secretHeaders(request.headersEnv ?? {}, port.environment);
  if (!headers.ok) return refused(headers.reason);
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.value.set(name, value);
  headers.value.set("Content-Type", "application/json");
  try {
    const response = await fetch(url.value, {
      method: "POST",
      headers: headers.value,
      body: JSON.stringify(request.body),
      redirect: "manual",
      signal: AbortSignal.any([port.signal, AbortSignal.timeout(CHANNEL_MS)]),
    });
    await response.body?.cancel();
    return answered(response, port.clock);
  } catch (error) {
    return { is: "transport", reason: failureOf(error) };
  }
}

type FoundSecret<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

/** What a variable holds. The secret itself may have been written where its name belongs, so odd names are not repeated. */
function secret(variable: string, environment: Environment): FoundSecret<string> {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(variable)) {
    return { ok: false, reason: "notify names something that cannot be an environment variable" };
  }
  const value = environment[variable]?.trim() ?? "";
  return value === "" ? { ok: false, reason: `the environment variable ${variable} is not set` } : { ok: true, value };
}

function secretUrl(variable: string, environment: Environment): FoundSecret<URL> {
  const text = secret(variable, environment);
  if (!text.ok) return text;
  const url = URL.parse(text.value);
  if (!url || !["http:", "https:"].includes(url.protocol)) {
    return { ok: false, reason: `the environment variable ${variable} holds no http or https address` };
  }
  if (url.username !== "" || url.password !== "") {
    return { ok: false, reason: `the address in ${variable} has a user or password in it; use headersEnv instead` };
  }
  return { ok: true, value: url };
}

function secretHeaders(named: Readonly<Record<string, string>>, environment: Environment): FoundSecret<Headers> {
  const headers = new Headers();
  for (const [name, variable] of Object.entries(named)) {
    const value = secret(variable, environment);
    if (!value.ok) return value;
    try {
      headers.set(name, value.value);
    } catch {
      return { ok: false, reason: `the header whose value is in ${variable} is not a valid header` };
    }
  }
  return { ok: true, value: headers };
}

function answered({ ok, status, headers }: Response, clock: Clock): ChannelOutcome {
  if (ok) return ARRIVED;
  if (status >= 300 && status < 400) return refused(`it redirects (${status}), and redirects are not followed`);
  if (status !== 408 && status !== 429 && status < 500) return refused(`it answered ${status}`);
  const retryAfterMs = waitOf(headers.get("retry-after"), clock);
  return { is: "transport", reason: `it answered ${status}`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** `Retry-After` in seconds or as a date. Bounded: other channels wait with this one. */
function waitOf(header: string | null, clock: Clock): number | undefined {
  if (header === null) return undefined;
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - clock.now();
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), MAX_WAIT_MS);
}

function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return "it cannot be reached";
  if (error.name === "TimeoutError") return `no answer within ${CHANNEL_MS / 1000} s`;
  if (error.name === "AbortError") return "the call was ended before it answered";
  return `it cannot be reached (${errnoOf(error.cause) ?? errnoOf(error) ?? "network error"})`;
}
