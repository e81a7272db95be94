import type { App } from "../accounts.ts";
import type { User } from "../world.ts";
import { userShape } from "./people.ts";

/** Where an app is installed: with the owner of a repository. */
export function installationShape(api: string, app: App, owner: User): Record<string, unknown> {
  const url = `${api}/app/installations/${app.installation}`;
  const time = "2020-01-01T00:00:00Z";
  return {
    ...{ id: app.installation, app_id: app.id, app_slug: app.slug, target_id: owner.id, target_type: owner.type },
    ...{ account: userShape(api, owner), repository_selection: "all", permissions: app.permissions, events: [] },
    ...{
      access_tokens_url: `${url}/access_tokens`,
      repositories_url: `${api}/installation/repositories`,
      html_url: url,
    },
    ...{ single_file_name: null, suspended_by: null, suspended_at: null, created_at: time, updated_at: time },
  };
}
