import Module, { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";
import { refuseForeignThread, refuseNewerLinks } from "./pinned-modules.ts";

/** What every thread imports first. From the sources it lies beside this file, as that of the bundle. */
const FIRST = import.meta.url.endsWith(".ts")
  ? new URL("./thread.ts", import.meta.url)
  : new URL("./thread.js", import.meta.url);

/**
 * Node gives a new thread none of our hooks, and packages start some: a logger loads what it writes with in one. What is given
 * as source text gets none: Node does not ask for what that requires.
 */
export function hookThreads(): void {
  const Plain = threads.Worker;
  threads.Worker = class Worker extends Plain {
    constructor(file: string | URL, options: threads.WorkerOptions = {}) {
      const { eval: isText = false, execArgv = [] } = options;
      if (!isText) refuseNewerLinks(file);
      super(file, isText ? options : { ...options, execArgv: [...execArgv, "--import", FIRST.href] });
    }
  };
  const { register } = Module;
  Module.register = (...args: unknown[]): void => {
    refuseForeignThread(String(args[0]));
    Reflect.apply(register, Module, args);
  };
  syncBuiltinESMExports();
}
