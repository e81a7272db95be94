import * as z from "zod";
import { anObject, text, usually, variableName, yesOrNo } from "./fields.ts";

const NO_SHARE = "must be a share from 0 to 0.9";
const share = z.number({ error: NO_SHARE }).min(0, { error: NO_SHARE }).max(0.9, { error: NO_SHARE });
const repo = text.refine((value) => /^[\w.-]+\/[\w.-]+$/.test(value), { error: 'must be "<owner>/<name>"' });
const url = text.refine((value) => /^https?:\/\/[^/\s@]+(?:\/[^\s?#]*[^/\s?#])?$/.test(value), {
  error: "must be an address without a name, a query or a slash at its end",
});

/** The repository on GitHub that plans come from. */
export const githubSchema = z.strictObject(
  {
    repo: repo.describe("`<owner>/<name>`."),
    apiUrl: usually(
      url.describe("The address of the API; of GitHub Enterprise `https://<host>/api/v3`"),
      "https://api.github.com",
    ),
    tokenEnv: usually(variableName.describe("The environment variable that holds the token"), "GITHUB_TOKEN"),
    deleteBranch: usually(
      yesOrNo.describe("With the forge `github`: the branch of a merged pull request is deleted there"),
      true,
    ),
    reserve: usually(share.describe("The share of each limit of the token that is left to people"), 0.2),
  },
  anObject,
);
export type GitHubSettings = Readonly<z.output<typeof githubSchema>>;
