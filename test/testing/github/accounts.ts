import { createPublicKey, type KeyObject, randomUUID, verify } from "node:crypto";
import { type Level, newToken, type Scope, type Token, type TokenOptions } from "./tokens.ts";
import type { User, World } from "./world.ts";

export interface App {
  readonly id: number;
  readonly slug: string;
  readonly installation: number;
  readonly publicKey: KeyObject;
  readonly permissions: Partial<Record<Scope, Level>>;
  /** What it writes is by this user. */
  readonly bot: User;
}

/** Tokens and apps: who a request is from. */
export class Accounts {
  readonly #world: World;
  readonly #tokens = new Map<string, Token>();
  readonly #apps: App[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** A token for a person, to send with requests. */
  add(login: string, options: TokenOptions = {}): string {
    const prefix = { classic: "ghp", "fine-grained": "github_pat", app: "ghs" }[options.kind ?? "classic"];
    const text = `${prefix}_${randomUUID().replaceAll("-", "")}`;
    this.#tokens.set(text, newToken(this.#world.user(login), options));
    return text;
  }

  revoke(text: string): void {
    const token = this.#tokens.get(text);
    if (token) token.isRevoked = true;
  }

  addApp(slug: string, publicKey: string, permissions: App["permissions"]): App {
    const bot = this.#world.user(`${slug}[bot]`, "Bot");
    const app = {
      id: this.#world.newId(),
      slug,
      installation: this.#world.newId(),
      publicKey: createPublicKey(publicKey),
      permissions,
      bot,
    };
    this.#apps.push(app);
    return app;
  }

  of(authorization: string | undefined): Token | undefined {
    const token = this.#tokens.get(secretOf(authorization));
    return token?.isRevoked ? undefined : token;
  }

  /** The app whose key signed the request's JSON Web Token, if it is still good. */
  appOf(authorization: string | undefined): App | undefined {
    const [head = "", claims = "", signature = ""] = secretOf(authorization).split(".");
    const { iss, exp, iat } = claimsIn(claims);
    const now = this.#world.now() / 1000;
    if (typeof exp !== "number" || typeof iat !== "number" || exp < now || exp - iat > 660) return undefined;
    const app = this.#apps.find(({ id }) => String(id) === String(iss));
    const isSigned =
      app && verify("sha256", Buffer.from(`${head}.${claims}`), app.publicKey, Buffer.from(signature, "base64url"));
    return isSigned ? app : undefined;
  }

  installationToken({ bot, slug, permissions }: App): string {
    return this.add(bot.login, { kind: "app", permissions, app: slug });
  }
}

/** `Bearer x`, `token x`, or what git sends: `Basic` with the token as password. */
function secretOf(authorization = ""): string {
  const [scheme = "", value = ""] = authorization.split(" ");
  if (scheme.toLowerCase() !== "basic") return value;
  return Buffer.from(value, "base64").toString("utf8").split(":").at(-1) ?? "";
}

function claimsIn(part: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
  } catch {
    return {};
  }
}
