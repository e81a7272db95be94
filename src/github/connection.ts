import * as z from "zod";
import type { TrackerAuthor } from "../bridges/tracker/port.ts";
import type { GitHubClient } from "./client/client.ts";
import type { Outcome } from "./client/outcome.ts";
import { CallError } from "./pages.ts";
import { RepositoryCalls } from "./repository.ts";

const repositorySchema = z.object({ id: z.number(), full_name: z.string() });
const userSchema = z.object({ id: z.number(), login: z.string() });

const WHO = "who the token belongs to";

/** A repository and a token that were found to be good; each is asked about once, when it is needed first. */
export class Connection {
  readonly #client: GitHubClient;
  /** `<owner>/<name>`, as the config has it. */
  readonly fullName: string;
  #repository: RepositoryCalls | undefined;
  #self: TrackerAuthor | undefined;

  constructor(client: GitHubClient, fullName: string) {
    this.#client = client;
    this.fullName = fullName;
  }

  async repository(): Promise<RepositoryCalls> {
    if (this.#repository) return this.#repository;
    const found = await this.#followed(await this.#client.get(`/repos/${this.fullName}`));
    if (found.kind !== "ok") throw new CallError(`the repository ${this.fullName}`, found);
    const { id, full_name: fullName } = repositorySchema.parse(found.data);
    this.#repository = new RepositoryCalls(this.#client, { id, fullName });
    return this.#repository;
  }

  /** Who the token belongs to: a person, or an app's `<slug>[bot]`. */
  async self(): Promise<TrackerAuthor> {
    if (this.#self) return this.#self;
    const bot = await this.#client.botLogin();
    if (typeof bot === "object") throw new CallError(WHO, { kind: "unauthorised", reason: bot.missing });
    // What an app has is no user's, so it cannot ask who it is.
    const outcome = await this.#client.get(bot === undefined ? "/user" : `/users/${encodeURIComponent(bot)}`);
    if (outcome.kind !== "ok") throw new CallError(WHO, outcome);
    const { id, login } = userSchema.parse(outcome.data);
    this.#self = { id: String(id), login };
    return this.#self;
  }

  /** One that was renamed since the config was written, or transferred. Only this GitHub is asked. */
  async #followed(outcome: Outcome): Promise<Outcome> {
    if (outcome.kind !== "moved" || !outcome.to.startsWith(`${this.#client.apiUrl}/`)) return outcome;
    return this.#client.get(outcome.to.slice(this.#client.apiUrl.length));
  }
}
