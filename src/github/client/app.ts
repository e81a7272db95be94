import { createPrivateKey, sign } from "node:crypto";
import * as z from "zod";
import type { Clock } from "../../kernel/clock.ts";
import { judgeAnswer, type Outcome } from "./outcome.ts";
import type { MissingToken, TokenSource } from "./tokens.ts";
import { HEADERS, type Lost, type WireAnswer, type WireRequest } from "./transport.ts";

export interface AppOptions {
  readonly appId: string;
  /** Where absent, the app's installation in this repository is asked for. */
  readonly installation?: string | undefined;
  /** `<owner>/<name>` */
  readonly repo: string;
  /** Reads the app's private key, as PEM. It is not kept. */
  key(): string | MissingToken;
  readonly apiUrl: string;
  readonly clock: Clock;
  send(request: WireRequest): Promise<WireAnswer | Lost>;
}

/** Its tokens live an hour; a new one is fetched before that. */
const RENEW_BEFORE_MS = 5 * 60_000;

const installationSchema = z.object({ id: z.number() });
const tokenSchema = z.object({ token: z.string().min(1), expires_at: z.string() });
const appSchema = z.object({ slug: z.string().min(1) });

/** A GitHub App: it signs with its key for tokens that last an hour, and writes as `<slug>[bot]`. */
export function appToken(options: AppOptions): TokenSource {
  return new AppToken(options);
}

class AppToken implements TokenSource {
  readonly from: string;
  readonly #options: AppOptions;
  #held: { readonly token: string; readonly expiresAt: number } | undefined;
  #underWay: Promise<string | MissingToken> | undefined;
  #installation: string | undefined;
  #login: string | undefined;

  constructor(options: AppOptions) {
    this.#options = options;
    this.#installation = options.installation;
    this.from = `the GitHub App ${options.appId}`;
  }

  async get(): Promise<string | MissingToken> {
    if (this.#held && this.#held.expiresAt - RENEW_BEFORE_MS > this.#options.clock.now()) return this.#held.token;
    this.#underWay ??= this.#fetch().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async botLogin(): Promise<string | MissingToken> {
    if (this.#login !== undefined) return this.#login;
    const found = await this.#ask("GET", "/app", appSchema);
    if ("missing" in found) return found;
    this.#login = `${found.slug}[bot]`;
    return this.#login;
  }

  forget(): void {
    this.#held = undefined;
  }

  async #fetch(): Promise<string | MissingToken> {
    const installation = await this.#installationId();
    if (typeof installation !== "string") return installation;
    const found = await this.#ask("POST", `/app/installations/${installation}/access_tokens`, tokenSchema);
    if ("missing" in found) {
      // Taken away and installed anew, it has another id.
      this.#installation = this.#options.installation;
      return found;
    }
    this.#held = { token: found.token, expiresAt: Date.parse(found.expires_at) };
    return found.token;
  }

  async #installationId(): Promise<string | MissingToken> {
    if (this.#installation !== undefined) return this.#installation;
    const found = await this.#ask("GET", `/repos/${this.#options.repo}/installation`, installationSchema);
    if ("missing" in found) return found;
    this.#installation = String(found.id);
    return this.#installation;
  }

  /** With the app's own signature; a repository that was renamed is followed once, on this GitHub. */
  async #ask<T>(method: string, path: string, schema: z.ZodType<T>): Promise<T | MissingToken> {
    const { appId, apiUrl, clock, key, send } = this.#options;
    const signed = assertion(appId, key(), clock.now());
    if (typeof signed !== "string") return signed;
    const ask = async (url: string): Promise<Outcome> =>
      judgeAnswer(await send({ method, url, headers: { ...HEADERS, authorization: `Bearer ${signed}` } }), clock.now());
    const first = await ask(apiUrl + path);
    const isMoved = first.kind === "moved" && first.to.startsWith(`${apiUrl}/`);
    const outcome = isMoved ? await ask(first.to) : first;
    const data = outcome.kind === "ok" ? schema.safeParse(outcome.data).data : undefined;
    if (data !== undefined) return data;
    const reason = "reason" in outcome ? outcome.reason : outcome.kind;
    return { missing: `GitHub gave the app ${appId} no ${WANTED[path] ?? "token"}: ${reason}${nextStep(outcome)}` };
  }
}

const WANTED: Readonly<Record<string, string>> = { "/app": "name" };

function nextStep({ kind }: Outcome): string {
  if (kind === "unauthorised") return " (github.app.id and the key belong to each other, and the clock is right?)";
  return kind === "not-found" ? " (is the app installed there?)" : "";
}

/** What an app proves itself with: signed with its key, good for nine minutes, begun a minute ago for clocks that differ. */
function assertion(appId: string, key: string | MissingToken, now: number): string | MissingToken {
  if (typeof key !== "string") return key;
  const seconds = Math.floor(now / 1000);
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iss: appId, iat: seconds - 60, exp: seconds + 540 })}`;
  try {
    return `${signed}.${sign("sha256", Buffer.from(signed), createPrivateKey(key)).toString("base64url")}`;
  } catch {
    // What it complains about may be a part of the key.
    return { missing: `the key of the GitHub App ${appId} is not a private key in PEM` };
  }
}
