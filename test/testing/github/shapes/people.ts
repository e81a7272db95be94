import type { User } from "../world.ts";

/** Links are many and say nothing new: all are made of the address of the thing. */
export function userShape(api: string, { id, login, type }: User): Record<string, unknown> {
  const url = `${api}/users/${encodeURIComponent(login)}`;
  const parts = [
    "followers",
    "following",
    "gists",
    "starred",
    "subscriptions",
    "organizations",
    "repos",
    "events",
    "received_events",
  ];
  return {
    ...{ login, id, node_id: nodeId("U", id), avatar_url: `${url}/avatar`, gravatar_id: "", url },
    html_url: `${webOf(api)}/${login}`,
    ...Object.fromEntries(parts.map((part) => [`${part}_url`, `${url}/${part}`])),
    ...{ type, site_admin: false, user_view_type: "public" },
  };
}

export const nodeId = (kind: string, id: number | string): string => `${kind}_${id}`;

export const webOf = (api: string): string => api.replace(/\/api\/v3$/, "");
