const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** How long, in one unit: "12s", "3m", "2h", "5d". */
export function shortDuration(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < UNITS.m) return `${Math.floor(whole / UNITS.s)}s`;
  if (whole < UNITS.h) return `${Math.floor(whole / UNITS.m)}m`;
  if (whole < 2 * UNITS.d) return `${Math.floor(whole / UNITS.h)}h`;
  return `${Math.floor(whole / UNITS.d)}d`;
}

/** How long ago a recorded time was; "?" when it is not a time. */
export function ageOf(iso: string, now: number): string {
  const at = Date.parse(iso);
  return Number.isNaN(at) ? "?" : shortDuration(now - at);
}

/** When a recorded time comes: "in 4 s", "in 3 min", "in 2 h", "in 5 days", or "now" when it is past. */
export function timeUntil(iso: string, now: number): string {
  const ms = Date.parse(iso) - now;
  // Also for what is not a time: nothing says that it has to wait.
  if (!(ms > 0)) return "now";
  if (ms <= 2 * UNITS.m) return `in ${Math.ceil(ms / UNITS.s)} s`;
  if (ms <= 2 * UNITS.h) return `in ${Math.ceil(ms / UNITS.m)} min`;
  return ms <= 2 * UNITS.d ? `in ${Math.ceil(ms / UNITS.h)} h` : `in ${Math.ceil(ms / UNITS.d)} days`;
}

/** Hours, minutes and seconds of a recorded time, as the clock on the wall shows them. */
export function clockTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "--:--:--";
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** Day and time of a recorded time, as the clock on the wall shows them. */
export function dayAndTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "?";
  const day = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, "0"));
  return `${day.join("-")} ${clockTime(iso)}`;
}
