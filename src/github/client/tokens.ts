import { execFile } from "node:child_process";
import { createPrivateKey, sign } from "node:crypto";
import { promisify } from "node:util";
import type { Clock } from "../../kernel/clock.ts";
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
export function ghToken(host: string): TokenSource {
  return {
    from: `gh auth token (${host})`,
    async get() {
      try {
        const { stdout } = await promisify(execFile)("gh", ["auth", "token", "--hostname", host], { timeout: 10_000 });
        return stdout.trim() || { missing: "gh gave no token" };
      } catch (error) {
        const isAbsent = (error as NodeJS.ErrnoException).code === "ENOENT";
        return { missing: isAbsent ? "gh is not installed" : `gh is not logged in to ${host}` };
      }
    },
  };
}

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
