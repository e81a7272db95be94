import { spawn, spawnSync } from "node:child_process";
import { EventEmitter, once } from "node:events";

/** A program that has a terminal of its own. */
export interface Terminal {
  /** Types a line. */
  type(line: string): void;
  /** Resolves when what is on the screen since the start matches. */
  shows(pattern: RegExp): Promise<void>;
  /** All that it has printed, when it has ended. */
  readonly ended: Promise<string>;
}

/** Both give their child a terminal and pass on what comes on their own stdin. */
const WAYS: readonly { readonly program: string; args(line: string): string[] }[] = [
  { program: "script", args: (line) => ["-qefc", line, "/dev/null"] },
  { program: "python3", args: (line) => ["-c", "import pty, sys; pty.spawn(['sh', '-c', sys.argv[1]])", line] },
];

const way = WAYS.find(({ program, args }) => spawnSync(program, args("true"), { stdio: "ignore" }).status === 0);

/** Why there can be no terminal here; false when there can. For the `skip` of a test. */
export const NO_TERMINAL: string | false = way ? false : "neither `script` nor `python3` can give a terminal here";

/** Starts a line of shell in a terminal. */
export function inTerminal(line: string, options: { cwd: string; env: Record<string, string> }): Terminal {
  if (!way) throw new Error(String(NO_TERMINAL));
  // `script` runs the line in $SHELL: shells differ in what an interrupt does to them.
  const env = { ...options.env, SHELL: "/bin/sh" };
  const child = spawn(way.program, way.args(line), { ...options, env, stdio: ["pipe", "pipe", "inherit"] });
  const more = new EventEmitter().setMaxListeners(0);
  let printed = "";
  let isOver = false;
  child.stdout.setEncoding("utf8").on("data", (text) => {
    printed += text;
    more.emit("more");
  });
  // It may end between two lines that are typed.
  child.stdin.on("error", () => child.stdin.destroy());
  const ended = once(child, "close").then(() => {
    isOver = true;
    more.emit("more");
    return printed;
  });
  return {
    type: (text) => void child.stdin.write(`${text}\r`),
    async shows(pattern) {
      while (!pattern.test(printed)) {
        if (isOver) throw new Error(`it ended without showing ${pattern}:\n${printed}`);
        await once(more, "more");
      }
    },
    ended,
  };
}
