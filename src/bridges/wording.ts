/** Errors of others end with a full stop or not; without it, the line can go on after them. */
export function unstopped(reason: string): string {
  return reason.replace(/\.\s*$/, "");
}

/** How long to wait, rounded up: "4 s", "3 min", "72 h". */
export function waitInWords(ms: number): string {
  const seconds = Math.ceil(Math.max(0, ms) / 1000);
  if (seconds <= 120) return `${seconds} s`;
  return seconds <= 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}
