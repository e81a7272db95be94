import { userInfo } from "node:os";

export interface OwnUser {
  readonly uid: number;
  /** As the system calls it, else as the environment does, else its number. */
  readonly name: string;
  /** As the system has it, whatever HOME says. */
  readonly home?: string;
}

/** The user that this process runs as. A container may run it with a uid that the system knows nothing else of. */
export function ownUser(env: Readonly<Record<string, string | undefined>> = process.env): OwnUser {
  try {
    const { uid, username: name, homedir: home } = userInfo();
    return { uid, name, home };
  } catch {
    const uid = process.getuid?.() ?? -1;
    return { uid, name: env.USER || env.LOGNAME || String(uid) };
  }
}
