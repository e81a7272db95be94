import type { Failure, HttpFailure } from "./conversation.ts";

const KINDS: Readonly<Record<number, readonly [type: string, code: string | null, message: string]>> = {
  400: ["invalid_request_error", null, "The request is not valid."],
  401: ["invalid_request_error", "invalid_api_key", "Incorrect API key provided."],
  403: ["invalid_request_error", "unsupported_country_region_territory", "You are not allowed to use this."],
  404: ["invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."],
  429: ["requests", "rate_limit_exceeded", "Rate limit reached. Please try again later."],
  503: ["server_error", "server_is_overloaded", "The server is overloaded. Please try again later."],
};

/** An error of OpenAI, the same for chat completions and responses. It knows no 529: no room is 503. */
export function openAiFailure({ status, retryAfter, quota, limit }: Failure): HttpFailure {
  if (limit !== undefined) return limitFailure(limit);
  const sent = quota ? 429 : status === 529 ? 503 : status;
  const [type, code, message] = quota
    ? ["insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan."]
    : (KINDS[sent] ?? ["server_error", null, "The server had an error while processing your request."]);
  return {
    status: sent,
    headers: {
      "x-request-id": "req_scripted",
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
      ...(sent === 429 ? { "x-ratelimit-remaining-requests": "0" } : {}),
    },
    body: { error: { message, type, param: null, code } },
  };
}

/** What a subscription is told that is used up. */
function limitFailure(seconds: number): HttpFailure {
  const error = {
    type: "usage_limit_reached",
    message: "The usage limit has been reached",
    plan_type: "plus",
    resets_at: Math.floor(Date.now() / 1000) + seconds,
    resets_in_seconds: seconds,
  };
  return { status: 429, headers: { "x-request-id": "req_scripted", "retry-after": String(seconds) }, body: { error } };
}
