/** The outcome of one notice on one channel. `transport`: it cannot be reached, the same call may work later. */
export type ChannelOutcome =
  | { readonly is: "arrived" }
  | { readonly is: "refused"; readonly reason: string }
  | { readonly is: "transport"; readonly reason: string; readonly retryAfterMs?: number };

export const ARRIVED: ChannelOutcome = { is: "arrived" };

/** A refusal. The reason goes into logs and dead letters, so it holds nothing that came out of a secret. */
export function refused(reason: string): ChannelOutcome {
  return { is: "refused", reason };
}

/** How long one channel may take; far less than a delivery has, so that a slow one cannot cost the others. */
export const CHANNEL_MS = 10_000;
