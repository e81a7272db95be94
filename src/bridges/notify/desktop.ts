import { spawn } from "node:child_process";
import { errnoOf } from "../../kernel/errors.ts";
import type { Environment } from "../../kernel/system/environment.ts";
import { findProgram, trustedPath } from "../../kernel/system/find-program.ts";
import { ARRIVED, CHANNEL_MS, type ChannelOutcome, refused } from "./channel-outcome.ts";
import { type Notice, plainLine, plainLines, shortened } from "./notice.ts";

const NOTIFIERS = ["notify-send", "osascript"] as const;
type Notifier = (typeof NOTIFIERS)[number];

const URGENCY = { urgent: "critical", action: "normal", warning: "normal", info: "low" } as const;
const MAX_CHARACTERS = 500;

/** The words are arguments of the script, never a part of it: quotes in a title are only quotes. */
const SCRIPT = [
  "on run argv",
  "display notification (item 3 of argv) with title (item 1 of argv) subtitle (item 2 of argv)",
  "end run",
];

/** What a notifier is called with. */
function desktopArguments(notifier: Notifier, notice: Notice): string[] {
  const title = plainLine(notice.title) || "prloom";
  const message = shortened(plainLines(notice.message), MAX_CHARACTERS);
  if (notifier === "osascript") {
    // "prloom" comes first because osascript would take a title that begins with "-" for an option of its own.
    return [...SCRIPT.flatMap((line) => ["-e", line]), "prloom", title, message];
  }
  return ["--app-name=prloom", `--urgency=${URGENCY[notice.priority]}`, "--", title, forNotifySend(message)];
}

/** notify-send resolves backslash escapes in the message, and desktops read what is left as markup. */
function forNotifySend(message: string): string {
  return message.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\\", "\\\\");
}

/** Shows a notice on the desktop of the person who runs prloom. */
export async function showOnDesktop(
  notice: Notice,
  { environment, signal }: { environment: Environment; signal: AbortSignal },
): Promise<ChannelOutcome> {
  const found = findNotifier(environment.PATH);
  if (!found) return refused("no desktop notifier here");
  return runNotifier(found.file, desktopArguments(found.notifier, notice), { environment, signal });
}

function findNotifier(path = ""): { notifier: Notifier; file: string } | undefined {
  const folders = trustedPath(path);
  if (folders === "") return undefined;
  for (const notifier of NOTIFIERS) {
    const file = findProgram(notifier, folders, "/");
    if (file !== undefined) return { notifier, file };
  }
  return undefined;
}

/** Failures are refusals: a desktop that cannot be reached now (no session, no bus) stays so, and old news piles up. */
function runNotifier(
  file: string,
  args: readonly string[],
  { environment, signal }: { environment: Environment; signal: AbortSignal },
): Promise<ChannelOutcome> {
  const name = file.slice(file.lastIndexOf("/") + 1);
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      env: environment,
      cwd: "/",
      stdio: "ignore",
      signal: AbortSignal.any([signal, AbortSignal.timeout(CHANNEL_MS)]),
      killSignal: "SIGKILL",
    });
    child.on("error", (error) => {
      if (signal.aborted) resolve({ is: "transport", reason: `${name} was ended` });
      else if (error.name === "AbortError") resolve(refused(`${name} did not end within ${CHANNEL_MS / 1000} s`));
      else resolve(refused(`${name} cannot be started (${errnoOf(error) ?? error.name})`));
    });
    child.on("exit", (code, ended) => {
      resolve(code === 0 ? ARRIVED : refused(`${name} ended with ${ended ?? `exit code ${code}`}`));
    });
  });
}
