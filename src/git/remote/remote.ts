import { join } from "node:path";
import { ensureDir, existsNoFollow, writeFileAtomic } from "../../kernel/files.ts";
import type { GitResult } from "../output.ts";
import type { Repository } from "../repository.ts";
import { GitFailure, type GitOptions, git } from "../run.ts";

/** A repository on a server. */
export interface Remote {
  /** https, without a name or password in it. */
  readonly url: string;
  readonly token: string;
  /**
   * A folder of ours. Git reads its configuration here and nowhere else: what an agent wrote into the repository's, or into the
   * person's, could send a push elsewhere or show the token to a proxy.
   */
  readonly folder: string;
}

const CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";

/** Runs git against a server: with the objects of the repository, and with nothing else of it. */
export async function gitRemote(
  { commonDir }: Repository,
  { url, token, folder }: Remote,
  { args, ...options }: { readonly args: readonly string[] } & Pick<GitOptions, "allowExit" | "timeoutMs">,
): Promise<GitResult> {
  for (const part of ["objects", "refs"]) ensureDir(join(folder, part));
  writeFileAtomic(join(folder, "HEAD"), "ref: refs/heads/none\n");
  writeFileAtomic(join(folder, "config"), CONFIG);
  const shallow = join(commonDir, "shallow");
  const sent = Buffer.from(`x-access-token:${token}`).toString("base64");
  const asked = git(args, {
    ...options,
    ...{ cwd: folder, gitDir: folder, secrets: [token, sent] },
    env: {
      GIT_OBJECT_DIRECTORY: join(commonDir, "objects"),
      ...(existsNoFollow(shallow) ? { GIT_SHALLOW_FILE: shallow } : {}),
      ...{ GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
      // Not among the arguments: those are seen by every process of the machine.
      ...{ GIT_CONFIG_COUNT: "2", GIT_CONFIG_KEY_0: `http.${new URL(url).origin}/.extraHeader` },
      GIT_CONFIG_VALUE_0: `Authorization: Basic ${sent}`,
      // Git leaves the token out of the request that follows a redirect, and puts it into those after it.
      ...{ GIT_CONFIG_KEY_1: "http.followRedirects", GIT_CONFIG_VALUE_1: "false" },
    },
  });
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof GitFailure && NOT_TAKEN.test(error.words))) throw error;
    const told = "the server does not take the token: it was revoked, or has expired";
    throw new GitFailure(error.kind, told, { message: told, hint: "`prloom doctor` tries it." });
  }
}

/** Git would ask a person then. */
const NOT_TAKEN = /could not read (Username|Password)|Authentication failed/;

/** What a ref is on the server, by its whole name; undefined where it has no such ref. */
export async function remoteTip(repo: Repository, remote: Remote, ref: string): Promise<string | undefined> {
  const { stdout } = await gitRemote(repo, remote, { args: ["ls-remote", remote.url, ref] });
  return /^([0-9a-f]{40,64})\t/.exec(stdout)?.[1];
}
