import { chmodSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as z from "zod";
import { ERROR_CODES, errnoOf, messageOf, PrloomError } from "../kernel/errors.ts";
import { readTextIfExists } from "../kernel/files.ts";
import { shortHash } from "../kernel/ids.ts";
import type { Paths } from "./paths.ts";

/** What daemon.json says about a running dispatcher. The lock decides who owns; this only tells where to talk. */
const daemonSchema = z.object({ pid: z.number(), startedAt: z.string(), socket: z.string(), version: z.string() });
export type DaemonInfo = z.infer<typeof daemonSchema>;

const requestSchema = z.object({ command: z.string(), args: z.record(z.string(), z.unknown()) });
const replySchema = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), result: z.unknown() }),
  z.object({ ok: z.literal(false), code: z.enum(ERROR_CODES), message: z.string(), hint: z.string() }),
]);

export type Handle = (command: string, args: Record<string, unknown>) => Promise<unknown>;

/** A short path in a folder that only this user can enter: socket paths are limited to about 100 characters. */
export function socketPath(paths: Paths, env: Readonly<Record<string, string | undefined>>): string {
  const runtime = env.XDG_RUNTIME_DIR;
  const uid = userInfo().uid;
  const dir = runtime ? join(runtime, "prloom") : join(tmpdir(), `prloom-${uid}`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const stat = lstatSync(dir);
  if (!stat.isDirectory() || stat.uid !== uid) {
    throw new PrloomError(
      "control-failed",
      `${dir} is not a folder of this user.`,
      "Remove it, then run `prloom start` again.",
    );
  }
  chmodSync(dir, 0o700);
  return join(dir, `${shortHash(paths.commonDir, 16)}.sock`);
}

/** Answers commands of the CLI, one JSON line each, until it is closed. */
export async function serveControl(path: string, handle: Handle): Promise<{ close(): void }> {
  rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    createInterface({ input: socket }).on("line", (line) => {
      void answer(line, handle).then((reply) => socket.write(`${JSON.stringify(reply)}\n`));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  chmodSync(path, 0o600);
  return {
    close() {
      server.close();
      for (const socket of sockets) socket.end();
      rmSync(path, { force: true });
    },
  };
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
      hint: "This is a fault of prloom; `prloom logs` has more.",
    };
  }
}

export function readDaemonInfo(paths: Paths): DaemonInfo | undefined {
  const text = readTextIfExists(paths.daemonFile);
  if (text === undefined) return undefined;
  try {
    return daemonSchema.parse(JSON.parse(text));
  } catch {
    // A torn file is as good as none: the lock decides.
    return undefined;
  }
}

/** Sends one command to a running dispatcher; "nobody" when none answers. */
export async function callDaemon(
  info: DaemonInfo,
  command: string,
  args: Record<string, unknown>,
): Promise<{ result: unknown } | "nobody"> {
  const socket = connect(info.socket);
  try {
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  } catch (error) {
    socket.destroy();
    if (["ENOENT", "ECONNREFUSED", "ENOTSOCK"].includes(errnoOf(error) ?? "")) return "nobody";
    throw new PrloomError(
      "control-failed",
      `The running prloom cannot be reached: ${messageOf(error)}`,
      "`prloom status` shows whether it runs.",
      error,
    );
  }
  try {
    socket.write(`${JSON.stringify({ command, args })}\n`);
    for await (const line of createInterface({ input: socket })) {
      const reply = replySchema.parse(JSON.parse(line));
      if (reply.ok) return { result: reply.result };
      throw new PrloomError(reply.code, reply.message, reply.hint);
    }
  } catch (error) {
    // A dispatcher that is killed resets the connection; that is told below like any other end without an answer.
    if (errnoOf(error) === undefined || error instanceof PrloomError) throw error;
  } finally {
    socket.destroy();
  }
  throw new PrloomError(
    "control-failed",
    "The running prloom ended before it answered.",
    "`prloom status` shows what became of it.",
  );
}
