import { existsSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { readInside, readLinesInside } from "../../kernel/held/files.ts";
import { asFields, asString, jsonIn } from "../../kernel/json-fields.ts";
import { readChecked, readJson } from "../../kernel/json-files.ts";
import { withoutEscapes } from "../../kernel/text/terminal-escapes.ts";
import { hooksInForce } from "../claude/hooks.ts";
import { rulesInForce } from "../opencode/log-line.ts";
import { EXIT_REASONS, type RunExit } from "../port.ts";
import { RUN_FILES } from "./run-files.ts";

const exitSchema = z.object({
  reason: z.enum(EXIT_REASONS),
  code: z.number().nullable(),
  signal: z.string().nullable(),
  startedAt: z.string(),
  endedAt: z.string(),
  outputBytes: z.number(),
  truncated: z.boolean(),
  leftBehind: z.number(),
  error: z.string().exactOptional(),
});

export const NOT_IN_FORCE =
  "the program did not load prloom's plugin, and without it nothing may be changed. Look what it printed, whether a setting switches plugins off, and whether `--no-print-logs` is among its arguments: then it cannot be seen.";

export const HOOKS_OFF =
  "the program did not ask prloom's hooks, and without them nothing may be changed. Look whether `--bare` is among its arguments.";

export const RAN_THOUGH_DENIED =
  "a call ran that prloom had denied: a hook in your settings had rewritten it, and one for PermissionRequest permitted it before prloom could answer. Look at the hooks in ~/.claude/settings.json and those of plugins.";

/** How the run ended, or undefined when it has no exit: it still runs, or it was interrupted. */
export function readExit(runDir: string): RunExit | undefined {
  const exit = readChecked(join(runDir, RUN_FILES.exit), exitSchema);
  if (!exit) return undefined;
  const isInForce = inForce(runDir);
  const error = isAsking(runDir) ? HOOKS_OFF : NOT_IN_FORCE;
  if (isInForce === false) return { ...exit, reason: "policy", error, isUngoverned: true };
  if (exit.reason !== "exited") return exit;
  // A program that failed before it had them says itself why.
  const isMissing = isInForce === undefined && exit.code === 0 && isAwaited(runDir);
  const why = isMissing ? NOT_IN_FORCE : policyEnd(runDir);
  return why === undefined ? exit : { ...exit, reason: "policy", error: why };
}

/** Whether the model answered without our rules, also in a run that has no exit. */
export const wasUngoverned = (runDir: string): boolean => inForce(runDir) === false;

const isAsking = (runDir: string): boolean => existsSync(join(runDir, RUN_FILES.asks));
const isAwaited = (runDir: string): boolean => existsSync(join(runDir, RUN_FILES.awaited));

/** It is said among the first lines, unless the user has all of the program's log printed. */
const HEADS = [256 * 1024, 16 * 1024 ** 2];

/** Whether our rules were in force when the model first answered; undefined where it did not, or where that is not asked. */
function inForce(runDir: string): boolean | undefined {
  const asks = isAsking(runDir);
  if (!asks && !isAwaited(runDir)) return undefined;
  const { runId } = asFields(readJson(join(runDir, RUN_FILES.request)));
  for (const most of HEADS) {
    const head = readLinesInside(runDir, RUN_FILES.output, most)?.bytes.toString("utf8") ?? "";
    const lines = withoutEscapes(head).split("\n");
    const isInForce = asks ? hooksInForce(lines) : rulesInForce(lines, asString(runId) ?? "");
    if (isInForce !== undefined) return isInForce;
  }
  return undefined;
}

const MAX_WHY = 1000;

/** The rules inside of a governed program ended it. An agent can write this as well, and then only its own work is not taken. */
function policyEnd(runDir: string): string | undefined {
  if (!existsSync(join(runDir, RUN_FILES.governance))) return undefined;
  const told = readInside(runDir, join(RUN_FILES.agentDir, RUN_FILES.policyEnd), 4 * MAX_WHY);
  return asString(asFields(jsonIn(told?.toString("utf8") ?? "")).why)?.slice(0, MAX_WHY);
}
