import { execFile } from "node:child_process";
import { createPrivateKey, sign } from "node:crypto";
import { promisify } from "node:util";
import type { Clock } from "../../kernel/clock.ts";
import { findProgram, trustedPath } from "../../kernel/system/find-program.ts";
import type { Lost, WireAnswer, WireRequest } from "./transport.ts";

/** Where the token for a request comes from. */
export interface TokenSource {
  /** For people: never the token. */
  readonly from: string;
  get(): Promise<string | { readonly missing: string }>;
}

/** A variable that is named; its value is read at each request, and never kept. */
export function environmentToken(env: Readonly<Record<string, string | undefined>>, name: string): TokenSource {
  return {
    from: `the variable ${name}`,
    async get() {
      return env[name]?.trim() || { missing: `${name} is not set` };
    },
  };
}

/** What the person is logged in with at GitHub's own program. */
export function ghToken(env: Readonly<Record<string, string | undefined>>, host: string): TokenSource {
  return {
    from: `gh auth token (${host})`,
    async get() {
      const program = findProgram("gh", trustedPath(env.PATH), "/");
      if (program === undefined) return { missing: "gh is not installed" };
      try {
        const args = ["auth", "token", "--hostname", host];
        const { stdout } = await promisify(execFile)(program, args, { env, timeout: GH_DEADLINE_MS });
        return stdout.trim() || { missing: "gh gave no token" };
      } catch {
        return { missing: `gh is not logged in to ${host}` };
      }
    },
  };
}

const GH_DEADLINE_MS = 10_000;

export interface AppOptions {
  readonly appId: string;
  readonly installationId: string;
  /** The app's private key, as PEM. */
  readonly key: string;
  readonly apiUrl: string;
  readonly clock: Clock;
  send(request: WireRequest): Promise<WireAnswer | Lost>;
}

/** Its tokens live an hour; a new one is fetched before that. */
const RENEW_BEFORE_MS = 5 * 60_000;

export function appToken({ appId, installationId, key, apiUrl, clock, send }: AppOptions): TokenSource {
  let held: { readonly token: string; readonly expiresAt: number } | undefined;
  return {
    from: `the GitHub App ${appId}`,
    async get() {
      const now = clock.now();
      if (held && held.expiresAt - RENEW_BEFORE_MS > now) return held.token;
      const headers = { authorization: `Bearer ${appAssertion(appId, key, now)}` };
      const url = `${apiUrl}/app/installations/${installationId}/access_tokens`;
      const answer = await send({ method: "POST", url, headers });
      if ("lost" in answer) return { missing: `the app's token could not be fetched: ${answer.lost}` };
      const { token, expires_at: expires } = answer.data as { token?: unknown; expires_at?: unknown };
      if (typeof token !== "string" || typeof expires !== "string") {
        return { missing: `GitHub gave the app no token (status ${answer.status})` };
      }
      held = { token, expiresAt: Date.parse(expires) };
      return token;
    },
  };
}

/** What an app proves itself with: signed with its key, good for ten minutes, begun a minute ago for clocks that differ. */
function appAssertion(appId: string, key: string, now: number): string {
  const seconds = Math.floor(now / 1000);
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iss: appId, iat: seconds - 60, exp: seconds + 540 })}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), createPrivateKey(key)).toString("base64url")}`;
}
