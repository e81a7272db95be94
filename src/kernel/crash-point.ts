/**
 * A named moment between two effects. The chaos suite sets PRLOOM_CRASH_AT to `<name>` or `<name>:<n>` and the process
 * kills itself there, the n-th time it passes. Costs one comparison when the variable is not set.
 */
const wanted = process.env.PRLOOM_CRASH_AT;
// Names hold colons themselves, so only a number at the very end is a count.
const [, wantedName, wantedCount] = /^(.+?)(?::(\d+))?$/.exec(wanted ?? "") ?? [];
let remaining = Number(wantedCount ?? 1);

export function crashPoint(name: string): void {
  if (wantedName === undefined || wantedName !== name) return;
  remaining -= 1;
  if (remaining <= 0) process.kill(process.pid, "SIGKILL");
}
