import type { Remote } from "../../git/remote/remote.ts";
import type { GitHubAccess } from "../access.ts";
import { hostOf } from "../client/tokens.ts";

/** Does something with git at a repository on the server. */
export type AtRemote = <T extends { readonly kind: string }>(act: (remote: Remote) => Promise<T>) => Promise<T>;

/** Git follows no redirect, which could have the token sent elsewhere. So where it fails, the repository is asked what it is called now. */
export function gitHubRemote(access: GitHubAccess, folder: string): AtRemote {
  const remote = async (): Promise<Remote> => {
    const { fullName } = await access.connection.repository();
    const token = await access.token.get();
    if (typeof token !== "string") throw new Error(`prloom has no token for GitHub: ${token.missing}`);
    return { url: `${webUrl(access.client.apiUrl)}/${fullName}.git`, token, folder };
  };
  return async (act) => {
    const asked = await remote();
    const outcome = await act(asked);
    if (outcome.kind !== "failed") return outcome;
    await (await access.connection.repository()).get("");
    const now = await remote();
    return now.url === asked.url ? outcome : act(now);
  };
}

/** Of GitHub Enterprise Server the API lies below the address of the site; elsewhere it has a host of its own. */
export function webUrl(apiUrl: string): string {
  const { protocol, host } = new URL(apiUrl);
  const web = hostOf(apiUrl);
  return web === host ? apiUrl.replace(/\/api\/v3$/, "") : `${protocol}//${web}`;
}
