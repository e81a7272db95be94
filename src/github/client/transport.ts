import { request } from "@octokit/request";
import { RequestError } from "@octokit/request-error";

/** One request as it goes out. */
export interface WireRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly data: unknown;
}

/** No whole answer came. */
export interface Lost {
  readonly lost: string;
  /** False where the request cannot have arrived. */
  readonly mayHaveHappened: boolean;
}

/** What every request says about itself. */
export const HEADERS = {
  accept: "application/vnd.github+json",
  "x-github-api-version": "2022-11-28",
  "user-agent": "prloom",
};

const DEADLINE_MS = 30_000;
/** A page of a hundred comments of full length has seven. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** The only place that knows octokit. Asks once: what is tried again, and when, is decided by those who know what it does. */
export async function sendOnce({ method, url, headers, body }: WireRequest): Promise<WireAnswer | Lost> {
  try {
    const {
      status,
      headers: answered,
      data,
    } = await request({
      ...{ method: method as "GET", url, headers, data: body },
      request: { fetch: fetchCapped, redirect: "manual", signal: AbortSignal.timeout(DEADLINE_MS), log: SILENT },
    });
    return whole({ status, headers: answered as WireAnswer["headers"], data });
  } catch (error) {
    if (!(error instanceof RequestError)) return { lost: describe(error), mayHaveHappened: true };
    const { response, status } = error;
    if (!response) return { lost: describe(error.cause ?? error), mayHaveHappened: !neverConnected(error.cause) };
    return whole({ status, headers: response.headers as WireAnswer["headers"], data: response.data });
  }
}

/** It would tell people of deprecations on stderr. */
const nothing = (): void => undefined;
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** octokit hands over what came of JSON that ended early, as a string. */
function whole(answer: WireAnswer): WireAnswer | Lost {
  const isJson = answer.headers["content-type"]?.startsWith("application/json");
  if (!isJson || typeof answer.data !== "string" || answer.status === 304) return answer;
  return { lost: "the answer broke off", mayHaveHappened: true };
}

async function fetchCapped(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (!response.body) return response;
  let left = MAX_ANSWER_BYTES;
  const capped = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.byteLength;
        if (left < 0) controller.error(new Error("the answer is too large"));
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Response(capped, response);
}

const NEVER_CONNECTED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

function neverConnected(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (NEVER_CONNECTED.has((cause as NodeJS.ErrnoException).code ?? "")) return true;
  }
  return false;
}

function describe(error: unknown): string {
  const causes: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) causes.push(cause.message);
  return causes.at(-1) ?? String(error);
}
