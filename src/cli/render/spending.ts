import type { Budget } from "../../config/config.ts";

/** A number of tokens as people say it: 950, 12.3k, 4.1M. */
export function tokensInWords(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 999_500) return `${rounded(tokens / 1000)}k`;
  return `${rounded(tokens / 1_000_000)}M`;
}

function rounded(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, "");
}

/** US dollars; less than a cent is not shown as zero. */
export function dollars(usd: number): string {
  return usd > 0 && usd < 0.01 ? "<$0.01" : `$${usd.toFixed(2).replace(/\.00$/, "")}`;
}

function minutes(ms: number): string {
  const whole = Math.floor(ms / 60_000);
  return ms > 0 && whole === 0 ? "<1 min" : `${whole} min`;
}

export interface SpendingAndTime {
  readonly tokens: number;
  readonly usd: number;
  readonly ms: number;
}

/** What was spent, each beside its limit where there is one: "12.3k tokens, $1.20 of $5, 3 min". */
export function spendingInWords({ tokens, usd, ms }: SpendingAndTime, budget: Budget): string {
  const of = (limit: string | undefined): string => (limit === undefined ? "" : ` of ${limit}`);
  const known = (limit: number | undefined, words: (value: number) => string): string | undefined =>
    limit === undefined ? undefined : words(limit);
  const parts = [
    ...(tokens > 0 || budget.tokens !== undefined
      ? [`${tokensInWords(tokens)}${of(known(budget.tokens, tokensInWords))} tokens`]
      : []),
    ...(usd > 0 || budget.usd !== undefined ? [`${dollars(usd)}${of(known(budget.usd, dollars))}`] : []),
    `${minutes(ms)}${of(known(budget.minutes, (value) => `${value} min`))}`,
  ];
  return parts.join(", ");
}
