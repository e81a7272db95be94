import { userInfo } from "node:os";
import { isAbsolute } from "node:path";
import type { Environment } from "./environment.ts";

export interface OwnUser {
  readonly uid: number;
  /** As the system calls it, else as the environment does, else its number. */
  readonly name: string;
  /** As the system has it, whatever HOME says. */
  readonly home?: string;
}

/** The user that this process runs as. A container may run it with a uid that the system knows nothing else of. */
export function ownUser(env: Environment = process.env): OwnUser {
  try {
    const { uid, username: name, homedir: home } = userInfo();
    return { uid, name, home };
  } catch {
    const uid = process.getuid?.() ?? -1;
    return { uid, name: env.USER || env.LOGNAME || String(uid) };
  }
}

/** In the place of a home that is not known; nothing is ever there. */
export const NO_HOME = "/nonexistent";

/** The home as the environment has it, else as the system does. Node's own question throws where neither knows one. */
export function homeFolder(env: Environment): string {
  const said = [env.HOME, process.env.HOME].find((path) => path && isAbsolute(path));
  return said ?? ownUser().home ?? NO_HOME;
}
