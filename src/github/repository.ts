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
    if (outcome.kind === "moved" && (await this.#isRenamed())) return this.client.get(this.#path(path), options);
    return outcome.kind === "not-found" ? this.#confirmed(outcome) : outcome;
  }

  async send(
    method: Parameters<GitHubClient["send"]>[0],
    path: string,
    call: Parameters<GitHubClient["send"]>[2] = {},
  ): Promise<Outcome> {
    const outcome = await this.client.send(method, this.#path(path), call);
    if (outcome.kind === "moved" && (await this.#isRenamed())) return this.client.send(method, this.#path(path), call);
    return outcome.kind === "not-found" ? this.#confirmed(outcome) : outcome;
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

  /** GitHub says 404 too for what a token may not see: it is not there only if the repository itself answers now. */
  async #confirmed(missing: Outcome & { kind: "not-found" }): Promise<Outcome> {
    const repository = await this.client.get(`/repos/${this.#fullName}`);
    if (repository.kind === "ok" && idOf(repository.data) === this.id) return missing;
    return { kind: "failed", reason: `${this.#fullName} does not answer: ${missing.reason}`, mayHaveHappened: false };
  }

  async #isRenamed(): Promise<boolean> {
    const now = await this.client.get(`/repositories/${this.id}`);
    if (now.kind !== "ok" || idOf(now.data) !== this.id) return false;
    const { full_name: fullName } = now.data as { full_name?: unknown };
    if (typeof fullName !== "string" || fullName === this.#fullName) return false;
    this.#fullName = fullName;
    this.#known.onRenamed?.(fullName);
    return true;
  }
}

function idOf(data: unknown): number | undefined {
  const { id } = (typeof data === "object" && data !== null ? data : {}) as { id?: unknown };
  return typeof id === "number" ? id : undefined;
}
