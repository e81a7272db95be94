import { chmodSync, lstatSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as z from "zod";
import { ERROR_CODES, errnoOf, messageOf, PrloomError } from "../../kernel/errors.ts";
import { ensureDir } from "../../kernel/files.ts";
import { shortHash } from "../../kernel/ids.ts";
import { inOneLine } from "../../kernel/json.ts";
import { readChecked } from "../../kernel/json-files.ts";
import type { Environment } from "../../kernel/system/environment.ts";
import { isAlive } from "../../kernel/system/process-tree.ts";
import { isSuspended } from "../../kernel/system/suspended.ts";
import { ownUser } from "../../kernel/system/user.ts";
import { copiedFrom } from "../moved-repository.ts";
import type { Paths } from "../paths.ts";

/** What daemon.json says about a running dispatcher. The lock decides who owns; this only tells where to talk. */
const daemonSchema = z.object({
  pid: z.number(),
  startedAt: z.string(),
  socket: z.string(),
  version: z.string(),
  identity: z.object({ pid: z.number(), startTicks: z.number(), bootId: z.string() }).optional(),
});
export type DaemonInfo = z.infer<typeof daemonSchema>;

const requestSchema = z.object({ command: z.string(), args: z.record(z.string(), z.unknown()) });
const replySchema = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({ ok: z.literal(false), code: z.enum(ERROR_CODES), message: z.string(), hint: z.string() }),
]);

export type Handle = (command: string, args: Record<string, unknown>) => Promise<unknown>;

/** Bytes of a socket's path, by the system that takes the fewest. */
const MAX_SOCKET_PATH = 103;

/** A short path in a folder that only this user can enter: where the user's own folders make it too long, below `/tmp`. */
export function socketPath(paths: Paths, env: Environment): string {
  const runtime = env.XDG_RUNTIME_DIR;
  const { uid } = ownUser();
  // The process is part of the name: one that lost its lock must not take away its successor's socket.
  const name = `${shortHash(paths.commonDir, 16)}-${process.pid}.sock`;
  const usual = runtime ? join(runtime, "prloom") : join(tmpdir(), `prloom-${uid}`);
  const dir = Buffer.byteLength(join(usual, name)) > MAX_SOCKET_PATH ? `/tmp/prloom-${uid}` : usual;
  ensureDir(dir, 0o700);
  const stat = lstatSync(dir);
  if (!stat.isDirectory() || stat.uid !== uid) {
    throw new PrloomError(
      "control-failed",
      `${dir} is not a folder of this user.`,
      "Remove it, then run `prloom start` again.",
    );
  }
  chmodSync(dir, 0o700);
  return join(dir, name);
}

/** Answers commands of the CLI, one JSON line each, until it is closed; closing waits for those under way. */
export async function serveControl(path: string, handle: Handle): Promise<{ close(): Promise<void> }> {
  rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  const running = new Set<Promise<void>>();
  let closing = false;
  const serve = async (line: string, socket: Socket): Promise<void> => {
    const reply = await answer(line, closing ? refuse : handle);
    // The process that asked may have gone meanwhile; what was asked for is done all the same.
    if (socket.writable) socket.write(`${inOneLine(JSON.stringify(reply))}\n`);
  };
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    const lines = createInterface({ input: socket }).on("line", (line) => {
      const served = serve(line, socket).finally(() => running.delete(served));
      running.add(served);
    });
    // It tells the socket's errors once more, and one that is not heard would end the dispatcher.
    lines.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  chmodSync(path, 0o600);
  return {
    async close() {
      closing = true;
      rmSync(path, { force: true });
      server.close();
      while (running.size > 0) await Promise.all(running);
      for (const socket of sockets) socket.end();
    },
  };
}

function silent(info: DaemonInfo): PrloomError {
  return new PrloomError(
    "control-failed",
    `The running prloom (process ${info.pid}) does not answer.`,
    `If it stays so, end it with \`kill ${info.pid}\` (or \`kill -9\`; nothing is lost) and run \`prloom start\`.`,
  );
}

function suspended({ pid }: DaemonInfo): PrloomError {
  return new PrloomError(
    "control-failed",
    `The running prloom (process ${pid}) is suspended, as by Ctrl-Z.`,
    `\`fg\` in its terminal, or \`kill -CONT ${pid}\`, lets it go on.`,
  );
}

/** Whether it would do what it is asked for only once it goes on. */
export function cannotAnswer({ identity }: DaemonInfo): boolean {
  return identity !== undefined && isAlive(identity) && isSuspended(identity.pid);
}

async function refuse(): Promise<never> {
  throw new PrloomError("control-failed", "The running prloom is about to end.", "Try again in a moment.");
}

async function answer(line: string, handle: Handle): Promise<z.infer<typeof replySchema>> {
  try {
    const { command, args } = requestSchema.parse(JSON.parse(line));
    return { ok: true, result: (await handle(command, args)) ?? null };
  } catch (error) {
    if (error instanceof PrloomError) return { ok: false, code: error.code, message: error.message, hint: error.hint };
    return {
      ok: false,
      code: "internal",
      message: messageOf(error),
      hint: "This is a bug in prloom; `prloom logs` has more.",
    };
  }
}

export function readDaemonInfo(paths: Paths): DaemonInfo | undefined {
  // A torn file is as good as none: the lock decides.
  const info = readChecked(paths.daemonFile, daemonSchema);
  return info === undefined || copiedFrom(paths) !== undefined ? undefined : info;
}

/** A command may merge or remove a large tree; a question is answered at once or not at all. */
const COMMAND_DEADLINE_MS = 600_000;
export const QUESTION_DEADLINE_MS = 3000;

/** Sends one command to a running dispatcher; "no-dispatcher" when there is none to send it to. */
export async function callDaemon(
  info: DaemonInfo,
  request: { command: string; args: Record<string, unknown>; deadlineMs?: number },
): Promise<{ result: unknown } | "no-dispatcher"> {
  const { command, args, deadlineMs = COMMAND_DEADLINE_MS } = request;
  if (cannotAnswer(info)) throw suspended(info);
  const socket = connect(info.socket);
  const timer = setTimeout(() => socket.destroy(silent(info)), deadlineMs);
  try {
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  } catch (error) {
    clearTimeout(timer);
    socket.destroy();
    if (error instanceof PrloomError) throw error;
    if (["ENOENT", "ECONNREFUSED", "ENOTSOCK"].includes(errnoOf(error) ?? "")) return "no-dispatcher";
    throw new PrloomError(
      "control-failed",
      `The running prloom cannot be reached: ${messageOf(error)}`,
      "`prloom status` shows whether it runs.",
      error,
    );
  }
  try {
    socket.write(`${inOneLine(JSON.stringify({ command, args }))}\n`);
    for await (const line of createInterface({ input: socket })) {
      const reply = replySchema.parse(JSON.parse(line));
      if (reply.ok) return { result: reply.result };
      throw new PrloomError(reply.code, reply.message, reply.hint);
    }
  } catch (error) {
    // A dispatcher that is killed resets the connection; that is told below like any other end without an answer.
    if (errnoOf(error) === undefined || error instanceof PrloomError) throw error;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
  throw new PrloomError(
    "control-failed",
    "The running prloom ended before it answered.",
    "`prloom status` shows whether it was done.",
  );
}
