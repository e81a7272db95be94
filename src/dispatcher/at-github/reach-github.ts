import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import type { Forge, ServerForge } from "../../forge/port.ts";
import type { GitHubAccess } from "../../github/access.ts";
import type { Timing } from "../capabilities.ts";
import type { Located } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";

interface GitHubReach extends Located, Timing, Pick<Configured, "environment"> {
  readonly github: NonNullable<Config["github"]>;
}

/** One way to GitHub for all that need it, loaded when the first one does: status and the like do not. */
export function reachGitHub({ repo, paths, clock, environment, github: settings }: GitHubReach) {
  let access: Promise<GitHubAccess> | undefined;
  let server: Promise<ServerForge> | undefined;
  const open = async (): Promise<GitHubAccess> => {
    const [{ githubAccess }, { namesStore }] = await Promise.all([
      import("../../github/access.ts"),
      import("../../github/names.ts"),
    ]);
    const names = namesStore(join(paths.authority, "github-repository.json"), settings.apiUrl);
    return githubAccess({ settings, environment, clock, names });
  };
  const reach = (): Promise<GitHubAccess> => {
    access ??= open();
    return access;
  };
  const openForge = async (): Promise<ServerForge> => {
    const { githubForge } = await import("../../github/forge/forge.ts");
    return githubForge({ access: await reach(), repo, folder: join(paths.authority, "remote") });
  };
  const forge: Forge = {
    name: "github",
    server() {
      server ??= openForge();
      return server;
    },
  };
  return { reach, forge };
}
