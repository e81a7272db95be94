import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LimitOptions } from "./limits.ts";
import { Person } from "./people.ts";
import { GitHubServer } from "./server.ts";
import { type Permission, type Repository, World } from "./world.ts";

export interface FakeGitHubOptions {
  readonly now?: () => number;
  readonly limits?: Partial<LimitOptions>;
}

/** A whole GitHub on loopback. */
export interface FakeGitHub {
  readonly world: World;
  readonly server: GitHubServer;
  /** For `github.apiUrl`. */
  readonly apiUrl: string;
  /** The address to clone from. */
  cloneUrl(fullName: string): string;
  /** A repository with one commit, and who may do what in it. */
  repository(fullName: string, people: Readonly<Record<string, Permission>>): Repository;
  person(repository: Repository, login: string): Person;
  close(): Promise<void>;
}

export async function startFakeGitHub({ now, limits }: FakeGitHubOptions = {}): Promise<FakeGitHub> {
  const folder = mkdtempSync(join(tmpdir(), "fake-github-"));
  const world = new World(folder, now);
  const server = new GitHubServer({ world, ...(limits ? { limits } : {}) });
  await server.listen();
  return {
    ...{ world, server, apiUrl: server.apiUrl },
    cloneUrl: (fullName) => `${server.url}/${fullName}.git`,
    repository(fullName, people) {
      const repository = world.addRepository(fullName);
      for (const [login, permission] of Object.entries(people))
        repository.permissions.set(world.user(login), permission);
      new Person(world, repository, repository.owner).pushes("main", { "README.md": `# ${fullName}\n` });
      return repository;
    },
    person: (repository, login) => new Person(world, repository, world.user(login)),
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
