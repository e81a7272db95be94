import type { TestContext } from "node:test";
import { type FakeGitHub, startFakeGitHub } from "../../testing/github/fake-github.ts";
import type { Repository } from "../../testing/github/world.ts";
import { makeProject, type Project, type ProjectOptions } from "../../testing/project.ts";

export interface GitHubProject {
  readonly github: FakeGitHub;
  readonly repository: Repository;
  readonly project: Project;
  /** Of the bot, for `GITHUB_TOKEN`. */
  readonly token: string;
}

/** A project whose plans come from labelled issues of acme/app, in which ada may write, and wait at a gate. */
export async function githubProject(
  t: TestContext,
  config: Record<string, unknown> = {},
  make: (options: ProjectOptions) => Project | Promise<Project> = makeProject,
): Promise<GitHubProject> {
  const github = await startFakeGitHub();
  t.after(() => github.close());
  const repository = github.repository("acme/app", { ada: "write", bot: "write" });
  const token = github.server.accounts.add("bot");
  const project = await make({
    config: {
      // The fake shows at once what it took.
      github: { repo: "acme/app", apiUrl: github.apiUrl, shownAfter: "100ms" },
      triggers: [{ on: "issue.labeled", label: "prloom", do: "queue" }],
      gates: { plan: true, advisory: true },
      ...config,
    },
  });
  return { github, repository, project, token };
}
