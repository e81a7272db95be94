import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Clock } from "../../kernel/clock.ts";
import type { Environment } from "../../kernel/system/environment.ts";
import { findProgram, trustedPath } from "../../kernel/system/find-program.ts";

export interface MissingToken {
  readonly missing: string;
}

/** Where the token for a request comes from. */
export interface TokenSource {
  /** For people: never the token. */
  readonly from: string;
  get(): Promise<string | MissingToken>;
  /** The login that an app writes under, which GitHub does not tell its token; undefined where the token is a person's. */
  botLogin?(): Promise<string | undefined | MissingToken>;
  /** GitHub did not take the last one: what is held is forgotten. */
  forget?(): void;
}

/** A variable that is named; its value is read at each request, and never kept. */
export function environmentToken(env: Environment, name: string): TokenSource {
  return {
    from: `the variable ${name}`,
    async get() {
      return env[name]?.trim() || { missing: `${name} is not set` };
    },
  };
}

const GH_DEADLINE_MS = 10_000;
/** A program is started for it; a person who logs in anew is heard of by then. */
const GH_BELIEVED_MS = 5 * 60_000;

/** What the person is logged in with at GitHub's own program. */
export function ghToken(env: Environment, host: string, clock: Clock): TokenSource {
  let held: { readonly token: string; readonly until: number } | undefined;
  return {
    from: `gh auth token (${host})`,
    async get() {
      if (held && held.until > clock.now()) return held.token;
      const found = await askGh(env, host);
      if (typeof found === "string") held = { token: found, until: clock.now() + GH_BELIEVED_MS };
      return found;
    },
    forget: () => {
      held = undefined;
    },
  };
}

async function askGh(env: Environment, host: string): Promise<string | MissingToken> {
  const program = findProgram("gh", trustedPath(env.PATH), "/");
  if (program === undefined) return { missing: "gh is not installed" };
  try {
    const args = ["auth", "token", "--hostname", host];
    // In no folder that a branch or an agent wrote.
    const { stdout } = await promisify(execFile)(program, args, { env, cwd: "/", timeout: GH_DEADLINE_MS });
    return stdout.trim() || { missing: "gh gave no token" };
  } catch {
    return { missing: `gh is not logged in to ${host}` };
  }
}

/** The host that gh knows an API by. */
export function hostOf(apiUrl: string): string {
  return new URL(apiUrl).host.replace(/^api\.(?=github\.com$|[a-z\d-]+\.ghe\.com$)/, "");
}

/** The first of these that has one, asked anew each time. */
export function firstToken(sources: readonly [TokenSource, ...TokenSource[]]): TokenSource {
  let used: TokenSource = sources[0];
  const get = async (): Promise<string | MissingToken> => {
    const missing: string[] = [];
    for (const source of sources) {
      const found = await source.get();
      if (typeof found === "string") {
        used = source;
        return found;
      }
      missing.push(found.missing);
    }
    return { missing: missing.join("; ") };
  };
  return {
    get from() {
      return used.from;
    },
    get,
    forget: () => used.forget?.(),
    async botLogin() {
      const token = await get();
      return typeof token === "string" ? used.botLogin?.() : token;
    },
  };
}
