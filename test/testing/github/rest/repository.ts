import { followBranches } from "../deeds.ts";
import { branchHead, git, tryGit } from "../git.ts";
import { fullRepositoryShape } from "../shapes/repository.ts";
import { fullNameOf } from "../world.ts";
import { type Call, created, notFound, ok, Refusal, type Route, reads, requireText, writes } from "./route.ts";

export const repositoryRoutes: readonly Route[] = [
  {
    ...{ method: "GET", path: "", needs: reads("metadata") },
    handle: (call) => ok(fullRepositoryShape(call.api, call.repository, call.user)),
  },
  {
    ...{ method: "GET", path: "/branches/{branch...}", needs: reads("contents") },
    handle(call) {
      const { branch: name = "" } = call.params;
      const sha = branchHead(call.repository.folder, name);
      if (sha === undefined) throw new Refusal(404, "Branch not found");
      return ok(branchShape(call, name, sha));
    },
  },
  {
    ...{ method: "GET", path: "/rules/branches/{branch...}", needs: reads("metadata") },
    handle(call) {
      const rules = call.repository.rules.get(call.params.branch ?? "");
      const source = { ruleset_source_type: "Repository", ruleset_source: fullNameOf(call.repository), ruleset_id: 1 };
      const checks = (rules?.requiredChecks ?? []).map((context) => ({ context }));
      return ok([
        ...(checks.length > 0
          ? [
              {
                type: "required_status_checks",
                parameters: { required_status_checks: checks, strict_required_status_checks_policy: false },
                ...source,
              },
            ]
          : []),
        ...(rules?.mergeQueue ? [{ type: "merge_queue", ...source }] : []),
      ]);
    },
  },
  {
    ...{ method: "GET", path: "/git/ref/{ref...}", needs: reads("contents") },
    handle: (call) =>
      ok(refShape(call, call.params.ref ?? "", refSha(call, call.params.ref ?? "") ?? fail(notFound()))),
  },
  {
    ...{ method: "POST", path: "/git/refs", needs: writes("contents") },
    handle(call) {
      const ref = requireText(call, "ref", "Reference");
      const sha = requireText(call, "sha", "Reference");
      if (!/^refs\/[^/]+\/./.test(ref))
        throw new Refusal(422, "Reference name must start with 'refs/' and have at least two slashes.");
      if (refSha(call, ref.slice(5)) !== undefined) throw new Refusal(422, "Reference already exists");
      if (tryGit(call.repository.folder, ["cat-file", "-e", sha]).status !== 0)
        throw new Refusal(422, "Object does not exist");
      git(call.repository.folder, ["update-ref", ref, sha, "0".repeat(40)]);
      return created(refShape(call, ref.slice(5), sha));
    },
  },
  {
    ...{ method: "DELETE", path: "/git/refs/{ref...}", needs: writes("contents") },
    handle(call) {
      const { ref = "" } = call.params;
      if (refSha(call, ref) === undefined) throw new Refusal(422, "Reference does not exist");
      git(call.repository.folder, ["update-ref", "-d", `refs/${ref}`]);
      followBranches(call.world, call.repository);
      return { status: 204 };
    },
  },
];

function fail(error: Error): never {
  throw error;
}

function refSha(call: Call, ref: string): string | undefined {
  const { status, stdout } = tryGit(call.repository.folder, ["rev-parse", "--verify", "--quiet", `refs/${ref}`]);
  return status === 0 ? stdout : undefined;
}

function refShape(call: Call, ref: string, sha: string): Record<string, unknown> {
  const url = `${call.api}/repos/${fullNameOf(call.repository)}/git`;
  return {
    ref: `refs/${ref}`,
    node_id: `REF_${ref}`,
    url: `${url}/refs/${ref}`,
    object: { type: "commit", sha, url: `${url}/commits/${sha}` },
  };
}

function branchShape(call: Call, name: string, sha: string): Record<string, unknown> {
  const rules = call.repository.rules.get(name);
  const url = `${call.api}/repos/${fullNameOf(call.repository)}`;
  const person = { name: "x", email: "x@example.test", date: "2020-01-01T00:00:00Z" };
  const tree = { sha: git(call.repository.folder, ["rev-parse", `${sha}^{tree}`]), url };
  return {
    name,
    commit: {
      ...{
        sha,
        node_id: `C_${sha}`,
        url: `${url}/commits/${sha}`,
        html_url: url,
        comments_url: url,
        author: null,
        committer: null,
        parents: [],
      },
      commit: {
        url,
        author: person,
        committer: person,
        message: git(call.repository.folder, ["log", "-1", "--format=%B", sha]),
        comment_count: 0,
        tree,
      },
    },
    _links: { html: url, self: url },
    protected: rules !== undefined,
    protection: {
      enabled: rules !== undefined,
      required_status_checks: { enforcement_level: "everyone", contexts: rules?.requiredChecks ?? [], checks: [] },
    },
    protection_url: `${url}/branches/${name}/protection`,
  };
}
