import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { TrackerAuthor } from "../bridges/tracker/port.ts";
import type { GitHubClient } from "./client/client.ts";
import type { Outcome } from "./client/outcome.ts";
import { isNameOf, type KnownNames, type NamesStore, NO_NAMES, namesAfter } from "./names.ts";
import { CallError } from "./pages.ts";
import { RepositoryCalls } from "./repository.ts";

const repositorySchema = z.object({ id: z.number(), full_name: z.string() });
const userSchema = z.object({ id: z.number(), login: z.string() });

const WHO = "who the token belongs to";

/** A repository and a token that were found to be good; each is asked about when it is needed first, and a token again when it is another. */
export class Connection {
  readonly #client: GitHubClient;
  /** `<owner>/<name>`, as the config has it. */
  readonly fullName: string;
  readonly #store: NamesStore;
  #names: KnownNames | undefined;
  #repository: RepositoryCalls | undefined;
  #self: TrackerAuthor | undefined;
  #selfOf = 0;

  constructor(client: GitHubClient, fullName: string, store: NamesStore = NO_NAMES) {
    this.#client = client;
    this.fullName = fullName;
    this.#store = store;
  }

  async repository(): Promise<RepositoryCalls> {
    if (this.#repository) return this.#repository;
    const known = this.#store.read();
    const { id, full_name: fullName } = await this.#find(known);
    // One that asked at the same time may have been faster.
    this.#repository ??= new RepositoryCalls(this.#client, {
      ...{ id, fullName },
      onRenamed: (name) => this.#learn(namesAfter(this.#names, id, [name])),
    });
    this.#learn(
      namesAfter(known, id, known && isNameOf(known, this.fullName) ? [fullName] : [this.fullName, fullName]),
    );
    return this.#repository;
  }

  /** All that the repository is and was called, as far as that is known here. */
  get names(): readonly string[] {
    return this.#names?.names ?? [this.fullName];
  }

  #learn(names: KnownNames): void {
    if (!isDeepStrictEqual(this.#store.read(), names)) this.#store.write(names);
    this.#names = names;
  }

  /** By its id, once that is known: after it was renamed its name may be another's. */
  async #find(known: KnownNames | undefined): Promise<z.infer<typeof repositorySchema>> {
    const isKnown = known !== undefined && isNameOf(known, this.fullName);
    const path = isKnown ? `/repositories/${known.id}` : `/repos/${this.fullName}`;
    const found = await this.#followed(await this.#client.get(path));
    const what = `the repository ${this.fullName}${isKnown ? ` (its id is ${known.id})` : ""}`;
    if (found.kind !== "ok") throw new CallError(what, found);
    return repositorySchema.parse(found.data);
  }

  /** Who the token belongs to: a person, or an app's `<slug>[bot]`. */
  async self(): Promise<TrackerAuthor> {
    // Who logs in at gh as another person writes as that one from then on.
    if (this.#self && this.#selfOf === this.#client.tokensSeen) return this.#self;
    const bot = await this.#client.botLogin();
    if (typeof bot === "object") throw new CallError(WHO, { kind: "unauthorised", reason: bot.missing, unasked: true });
    // What an app has is not a user's, so it cannot ask who it is.
    const outcome = await this.#client.get(bot === undefined ? "/user" : `/users/${encodeURIComponent(bot)}`);
    if (outcome.kind !== "ok") throw new CallError(WHO, outcome);
    const { id, login } = userSchema.parse(outcome.data);
    this.#self = { id: String(id), login };
    this.#selfOf = this.#client.tokensSeen;
    return this.#self;
  }

  /** One that was renamed since the config was written, or transferred. Only this GitHub is asked. */
  async #followed(outcome: Outcome): Promise<Outcome> {
    if (outcome.kind !== "moved" || !outcome.to.startsWith(`${this.#client.apiUrl}/`)) return outcome;
    return this.#client.get(outcome.to.slice(this.#client.apiUrl.length));
  }
}
