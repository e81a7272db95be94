import { join } from "node:path";
import type { BuiltinBridge } from "../../bridges/contract.ts";
import type { GitHubUsage } from "../../github/usage.ts";
import { isoTime } from "../../kernel/clock.ts";
import { ensureDir, writeRunFile } from "../../kernel/files.ts";
import { isFields } from "../../kernel/json-fields.ts";
import { readJson } from "../../kernel/json-files.ts";
import type { Timing } from "../capabilities.ts";
import type { Located, Paths } from "../paths.ts";

export type TimedUsage = GitHubUsage & { readonly at: string };

const usageFile = (paths: Paths): string => join(paths.bus, "state", "github.json");

/** The bridge, which leaves word after each poll and delivery of what it cost. */
export function tellingUsage(
  loom: Located & Timing,
  bridge: BuiltinBridge,
  usage: (now: number) => GitHubUsage,
): BuiltinBridge {
  const { events, actions } = bridge;
  const tell = (): void => {
    const now = loom.clock.now();
    ensureDir(join(loom.paths.bus, "state"));
    writeRunFile(usageFile(loom.paths), JSON.stringify({ schemaVersion: 1, at: isoTime(now), ...usage(now) }));
  };
  return {
    ...bridge,
    ...(events ? { events: (ctx, state) => Promise.resolve(events(ctx, state)).finally(tell) } : {}),
    ...(actions ? { actions: (ctx, action) => Promise.resolve(actions(ctx, action)).finally(tell) } : {}),
  };
}

/** As the newest dispatcher left word; a file that cannot be read tells nothing. Checked by hand: status reads it each time. */
export function readUsage({ paths }: Located): TimedUsage | undefined {
  const written = readJson(usageFile(paths));
  if (!isFields(written) || written.schemaVersion !== 1) return undefined;
  const { schemaVersion: _, ...usage } = written;
  return isUsage(usage) ? usage : undefined;
}

function isUsage(usage: Readonly<Record<string, unknown>>): usage is Readonly<Record<string, unknown>> & TimedUsage {
  const { at, repo, lastHour, plans, limits, reserve } = usage;
  const areNumbers = (values: readonly unknown[]): boolean => values.every((value) => typeof value === "number");
  if (typeof at !== "string" || typeof repo !== "string" || !isFields(plans) || !isFields(limits)) return false;
  const left = Object.values(limits).flatMap((one) =>
    isFields(one) ? [one.limit, one.remaining, one.resetAt] : [one],
  );
  return areNumbers([lastHour, reserve, ...Object.values(plans), ...left]);
}
