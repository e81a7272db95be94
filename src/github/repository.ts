import type { GitHubClient } from "./client/client.ts";
import type { Outcome } from "./client/outcome.ts";

/** A repository as it is known here: by its id, whatever it is called. */
export interface KnownRepository {
  readonly id: number;
  /** `owner/name` as of the last look. */
  readonly fullName: string;
  /** It was renamed. */
  onRenamed?(fullName: string): void;
}

/** The calls below one repository. One that was renamed is followed, and a repository that took its name is not. */
export class RepositoryCalls {
  readonly client: GitHubClient;
  readonly id: number;
  readonly #known: KnownRepository;
  #fullName: string;

  constructor(client: GitHubClient, known: KnownRepository) {
    this.client = client;
    this.id = known.id;
    this.#known = known;
    this.#fullName = known.fullName;
  }

  get fullName(): string {
    return this.#fullName;
  }

  async get(path: string, options: Parameters<GitHubClient["get"]>[1] = {}): Promise<Outcome> {
    const outcome = await this.client.get(this.#path(path), options);
    return this.#followed(outcome, () => this.client.get(this.#path(path), options));
  }

  async send(
    method: Parameters<GitHubClient["send"]>[0],
    path: string,
    call: Parameters<GitHubClient["send"]>[2] = {},
  ): Promise<Outcome> {
    const outcome = await this.client.send(method, this.#path(path), call);
    return this.#followed(outcome, () => this.client.send(method, this.#path(path), call));
  }

  /** Where an issue is now that was moved, as people write it; as GitHub wrote it where the token may not look. */
  async movedTo(to: string): Promise<string> {
    const { apiUrl } = this.client;
    // Only this GitHub is asked.
    if (!to.startsWith(`${apiUrl}/`)) return to;
    const found = await this.client.get(to.slice(apiUrl.length).replace(/\/comments$/, ""));
    const { html_url: url } = (found.kind === "ok" ? found.data : {}) as { html_url?: unknown };
    return typeof url === "string" ? url : to;
  }

  #path(path: string): string {
    return `/repos/${this.#fullName}${path}`;
  }

  async #followed(outcome: Outcome, again: () => Promise<Outcome>): Promise<Outcome> {
    if (outcome.kind === "not-found") return this.#confirmed(outcome);
    if (outcome.kind !== "moved") return outcome;
    const now = await this.#nameNow();
    // Whatever stands before GitHub, a login page say, sends everything elsewhere: that moves nothing.
    if (now === undefined) return this.#silent(`moved to ${outcome.to}`);
    return now === "renamed" ? again() : outcome;
  }

  #silent(reason: string): Outcome {
    return { kind: "failed", reason: `${this.#fullName} does not answer: ${reason}`, mayHaveHappened: false };
  }

  /** GitHub says 404 too for what a token may not see: it is not there only if the repository itself answers now. */
  async #confirmed(missing: Outcome & { kind: "not-found" }): Promise<Outcome> {
    const repository = await this.client.get(`/repos/${this.#fullName}`);
    if (repository.kind === "ok" && idOf(repository.data) === this.id) return missing;
    return this.#silent(missing.reason);
  }

  /** Undefined where the repository itself does not answer. */
  async #nameNow(): Promise<"renamed" | "same" | undefined> {
    const now = await this.client.get(`/repositories/${this.id}`);
    if (now.kind !== "ok" || idOf(now.data) !== this.id) return undefined;
    const { full_name: fullName } = now.data as { full_name?: unknown };
    if (typeof fullName !== "string" || fullName === this.#fullName) return "same";
    this.#fullName = fullName;
    this.#known.onRenamed?.(fullName);
    return "renamed";
  }
}

function idOf(data: unknown): number | undefined {
  const { id } = (typeof data === "object" && data !== null ? data : {}) as { id?: unknown };
  return typeof id === "number" ? id : undefined;
}
