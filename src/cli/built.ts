/**
 * The entry of the built program, of which nothing is read before it is known that this Node can. Node's own cache holds what is compiled of a file
 * before any of it has run, a third of what a command then needs. So the first run of a command keeps what it has compiled, for the next ones.
 */
import { keepCompiled } from "./compile-cache.ts";

declare const PRLOOM_BUILD: string;

/** In front of what is kept. */
const SUM_BYTES = 4;
/** Ten times what the whole program would be. */
const MAX_KEPT = 64 * 1024 * 1024;

interface BuiltProgram {
  run(): Promise<void>;
}

/** Of a run that failed, which has come to less of the program. It is taken until one has succeeded. */
const FAILED = "-failed";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > 22 || (major === 22 && minor >= 18)) {
  // `status` has a file of its own, a third as long: to read the whole program takes an eighth of its time.
  // It has no --watch in it, which loads what draws.
  const isStatus = process.argv[2] === "status" && !process.argv.some((word) => /^--?\w*w/.test(word));
  await load(isStatus ? "status.js" : "main.js").run();
} else {
  console.error(`prloom needs Node 22.18 or newer; this is Node ${process.versions.node}.`);
  process.exitCode = 1;
}

function load(name: string): BuiltProgram {
  const { readFileSync } = process.getBuiltinModule("node:fs");
  const { constants, Script } = process.getBuiltinModule("node:vm");
  const url = new URL(name, import.meta.url);
  const filename = process.getBuiltinModule("node:url").fileURLToPath(url);
  const kept = keptIn(name);
  const whole = kept === undefined ? undefined : own(kept);
  const cachedData = whole ?? (kept === undefined ? undefined : own(`${kept}${FAILED}`));
  // The build wrote nothing but ASCII.
  const script = new Script(readFileSync(filename, "latin1"), {
    filename,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData && { cachedData }),
  });
  const isTaken = cachedData !== undefined && !script.cachedDataRejected;
  if (kept !== undefined && !(isTaken && whole)) {
    process.once("exit", (code) => {
      if (code === 0) keep(kept, script);
      else if (!isTaken) keep(`${kept}${FAILED}`, script);
    });
  }
  return script.runInThisContext()(url.href) as BuiltProgram;
}

/** Where it is kept what a command compiles of this file; the folder is one for this version of Node, with its flags, and for this user. */
function keptIn(name: string): string | undefined {
  // Plugins and other modules that are imported come from there, too.
  const directory = keepCompiled();
  const word = process.argv[2] ?? "";
  const command = /^[a-z]{1,20}$/.test(word) ? word : "other";
  return directory === undefined ? undefined : `${directory}/prloom-${PRLOOM_BUILD}-${command}-${name}`;
}

/** It is executed: V8 looks neither who wrote it nor whether all of it is as it was, and crashes at each start if it is not. */
function own(file: string): Buffer | undefined {
  const { closeSync, constants, fstatSync, openSync, readFileSync } = process.getBuiltinModule("node:fs");
  try {
    // A pipe is not waited for.
    const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const found = fstatSync(fd);
      if (!found.isFile() || found.uid !== process.getuid?.() || found.size > MAX_KEPT) return undefined;
      const whole = readFileSync(fd);
      const data = whole.subarray(SUM_BYTES);
      return sumOf(data) === whole.readUInt32LE() ? data : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined; // nothing was kept yet
  }
}

function sumOf(data: Buffer): number {
  return process.getBuiltinModule("node:zlib").crc32(data);
}

function keep(file: string, script: import("node:vm").Script): void {
  const { renameSync, writeFileSync } = process.getBuiltinModule("node:fs");
  const whole = `${file}.${process.pid}`;
  try {
    // V8 takes it with the same flags only, and a dispatcher has changed this one (young-generation.ts).
    process.getBuiltinModule("node:v8").setFlagsFromString("--semi-space-growth-factor=2");
    const data = script.createCachedData();
    const sum = Buffer.alloc(SUM_BYTES);
    sum.writeUInt32LE(sumOf(data));
    writeFileSync(whole, Buffer.concat([sum, data]), { flush: true, mode: 0o600, flag: "wx" });
    renameSync(whole, file);
  } catch {
    // Then the next start takes longer, which is nothing to stop or to complain for.
    remove(whole);
  }
}

function remove(file: string): void {
  try {
    process.getBuiltinModule("node:fs").rmSync(file, { force: true });
  } catch {
    // It stays in the temporary folder.
  }
}
