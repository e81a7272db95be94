import * as z from "zod";
import type { TrackerAuthor } from "../../bridges/tracker/port.ts";
import { type AuthorPermission, PERMISSIONS } from "../../bus/author.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Connection } from "../connection.ts";
import { CallError } from "../pages.ts";

const permissionSchema = z.object({ permission: z.string(), user: z.object({ id: z.number() }).nullable() });

/** So long a permission is believed; one that was taken away ends by then. */
const BELIEVED_MS = 5 * 60_000;

/** What people may do, by their user ids: a login can be taken over by another person. */
export class Permissions {
  readonly #connection: Pick<Connection, "repository">;
  readonly #clock: Clock;
  readonly #trustedBots: ReadonlySet<string>;
  readonly #known = new Map<string, { readonly permission: AuthorPermission; readonly at: number }>();

  /** @param trustedBots the logins of bots, and the names of apps, whose words count */
  constructor(connection: Pick<Connection, "repository">, clock: Clock, trustedBots: readonly string[] = []) {
    this.#connection = connection;
    this.#clock = clock;
    this.#trustedBots = new Set(trustedBots.map((name) => name.toLowerCase()));
  }

  /** Throws where it cannot be found out now. */
  async of({ login, id, bot, app }: TrackerAuthor): Promise<AuthorPermission> {
    // What a program may write to is not what it may ask for. In a person's name it may ask for no more than the person.
    if (bot && !this.#trustedBots.has((app ?? login).toLowerCase())) return "none";
    if (bot && app === undefined) return "write";
    const key = `${id}/${login}`;
    const now = this.#clock.now();
    const known = this.#known.get(key);
    // Also with a clock that was set back.
    if (known && Math.abs(now - known.at) < BELIEVED_MS) return known.permission;
    const permission = await this.#look(login, id);
    this.#known.set(key, { permission, at: now });
    return permission;
  }

  async #look(login: string, id: string | undefined): Promise<AuthorPermission> {
    const repository = await this.#connection.repository();
    const outcome = await repository.get(`/collaborators/${encodeURIComponent(login)}/permission`);
    // An account that is gone can do nothing any more.
    if (outcome.kind === "not-found") return "none";
    if (outcome.kind !== "ok") throw new CallError(`the permission of ${login}`, outcome);
    const { permission, user } = permissionSchema.parse(outcome.data);
    if (id !== undefined && String(user?.id) !== id) return "none";
    return PERMISSIONS.find((one) => one === permission) ?? "none";
  }
}
