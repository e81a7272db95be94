const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const AMOUNT =
  "\\d+(?:\\.\\d+)?\\s*(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])";

/** "try again in 6m12s", "retry in 12.3s", "retryDelay": "34s", "resets in 2 hours". */
const AFTER_WORDS = new RegExp(
  `(?:(?:try|retry|wait|resets?|available)(?: again)?(?: in| after)?|retry[_-]?(?:delay|after))["':=\\s]*((?:${AMOUNT}[\\s,]*(?:and )?)+)`,
  "i",
);

/** "retry-after: 30" and "retry after 30": seconds, as HTTP has it. */
const BARE_SECONDS = /retry[_ -]?after["':=\s]+(\d{1,7})\b(?!\s*(?:ms|m|h|d)\b)/i;

/** The time to wait, where the text gives it as a duration. */
export function retryHintMs(text: string): number | undefined {
  const amounts = AFTER_WORDS.exec(text)?.[1];
  if (amounts !== undefined) return lengthOf(amounts);
  const seconds = BARE_SECONDS.exec(text)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

function lengthOf(amounts: string): number {
  let ms = 0;
  for (const [, amount = "0", unit = ""] of amounts.matchAll(/(\d{1,15}(?:\.\d{1,15})?)\s{0,9}([a-z]+)/gi)) {
    ms += Number(amount) * (UNIT_MS[shortUnit(unit.toLowerCase())] ?? 0);
  }
  return Math.ceil(ms);
}

function shortUnit(unit: string): string {
  return unit.startsWith("ms") || unit.startsWith("milli") ? "ms" : unit.slice(0, 1);
}

/** "usage limit reached|1794743278": seconds or milliseconds since 1970. */
const EPOCH = /\|\s*(\d{10}(?:\d{3})?)\b/;

/** "resets 3pm (Europe/Berlin)", "resets Nov 18, 9:30am", "resets at 15:00". */
const CLOCK =
  /resets?(?: at| on)?\s{1,9}(?:([a-z]{3})[a-z]{0,6}\.?\s{1,9}(\d{1,2}),?\s{1,9}(?:at\s{1,9})?)?(\d{1,2})(?::(\d{2}))?\s{0,9}([ap]m)?(?:\s{0,9}\(([\w/+-]+)\))?/i;

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAY_MS = 86_400_000;

/** "You will regain access on 2026-12-01 at 00:00 UTC." */
const REGAINED = /regain access on (\d{4}-\d\d-\d\d) at (\d\d:\d\d) UTC/i;

/** The time until a limit ends, where the text says when that is. */
export function resetAfterMs(text: string, now: number): number | undefined {
  const epoch = EPOCH.exec(text)?.[1];
  if (epoch !== undefined) return Math.max(0, Number(epoch) * (epoch.length > 10 ? 1 : 1000) - now);
  const [, day, time] = REGAINED.exec(text) ?? [];
  const regained = Date.parse(`${day}T${time}Z`);
  if (!Number.isNaN(regained)) return Math.max(0, regained - now);
  const clock = CLOCK.exec(text);
  return clock ? untilClock(clock, now) : untilAgain(text, now);
}

const AGAIN = /try again at (?:([a-z]{3})[a-z]* (\d{1,2})[a-z]{2}, (\d{4}) )?(\d{1,2}):(\d{2}) ([ap])m/i;

/** As Codex says it, in local time: "try again at 1:50 PM", or "… at Nov 18th, 2026 11:50 AM". */
function untilAgain(text: string, now: number): number | undefined {
  const found = AGAIN.exec(text);
  if (!found) return undefined;
  const [, month, day, year, hour, minute, half] = found;
  const at = new Date(now);
  if (month !== undefined) at.setFullYear(Number(year), MONTHS.indexOf(month.toLowerCase()), Number(day));
  at.setHours((Number(hour) % 12) + (half?.toLowerCase() === "p" ? 12 : 0), Number(minute), 0, 0);
  // It is told without seconds, so a minute that has just begun is now, and not tomorrow.
  if (month === undefined && at.getTime() < now - 60_000) at.setDate(at.getDate() + 1);
  return Math.max(0, at.getTime() - now);
}

/** Computed with the zone's current offset: an hour off across a clock change, which is harmless. */
function untilClock(
  [, month, day, hour = "0", minute = "0", half, zone]: RegExpExecArray,
  now: number,
): number | undefined {
  if (half === undefined && minute === "0") return undefined;
  const wall = wallTime(now, zone);
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
  const target = new Date(wall);
  target.setUTCHours(hours, Number(minute), 0, 0);
  if (month === undefined || day === undefined) {
    return target.getTime() > wall ? target.getTime() - wall : target.getTime() + DAY_MS - wall;
  }
  const index = MONTHS.indexOf(month.toLowerCase());
  if (index < 0) return undefined;
  target.setUTCMonth(index, Number(day));
  if (target.getTime() < wall - DAY_MS) target.setUTCFullYear(target.getUTCFullYear() + 1);
  return Math.max(0, target.getTime() - wall);
}

/** What the clock shows in a zone (without one, in that of this machine), as if that were UTC; in one that is not known, what it shows in UTC. */
function wallTime(now: number, zone: string | undefined): number {
  const options = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const;
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      ...options,
      second: "numeric",
      hourCycle: "h23",
      timeZone: zone,
    });
    const parts = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
    const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) + (now % 1000);
  } catch (error) {
    if (error instanceof RangeError) return now;
    throw error;
  }
}
