import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { branchHead } from "../../testing/github/git.ts";
import type { Person } from "../../testing/github/people.ts";
import type { Issue } from "../../testing/github/world.ts";
import type { CliResult } from "../../testing/project.ts";
import { type GitHubProject, githubProject } from "./github-project.ts";

export interface PublishingProject extends GitHubProject {
  readonly ada: Person;
  /** The dispatcher works until it is idle. */
  work(env?: Record<string, string>): Promise<CliResult>;
  cli(...args: string[]): Promise<CliResult>;
  pulls(): Issue[];
  /** The commit of a branch on GitHub. */
  there(branch: string): string | undefined;
}

/** A clone of acme/app whose plans become pull requests there. */
export async function publishingProject(
  t: TestContext,
  config: Record<string, unknown> = {},
  make?: Parameters<typeof githubProject>[2],
): Promise<PublishingProject> {
  const settings = { forge: "github", gates: {}, triggers: [], baseBranch: "main", ...config };
  const made = await githubProject(t, settings, make);
  const { github, repository, project, token } = made;
  t.after(() => project.remove());
  project.git("push", "-q", "--force", repository.folder, "main");
  const env = { GITHUB_TOKEN: token };
  return {
    ...made,
    ada: github.person(repository, "ada"),
    async work(extra = {}) {
      const result = await project.work({ ...env, ...extra });
      assert.ok(result.code === 0 || result.signal === "SIGKILL", result.stderr + result.stdout);
      return result;
    },
    cli: (...args) => project.cli(args, env),
    pulls: () => [...repository.issues.values()].filter(({ pull }) => pull),
    there: (branch) => branchHead(repository.folder, branch),
  };
}
