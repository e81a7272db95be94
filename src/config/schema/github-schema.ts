import * as z from "zod";
import { anObject, duration, text, texts, usually, variableName, yesOrNo } from "./fields.ts";
import { withUnits } from "./units.ts";

const NO_SHARE = "must be a share from 0 to 0.9";
const share = z.number({ error: NO_SHARE }).min(0, { error: NO_SHARE }).max(0.9, { error: NO_SHARE });
const repo = text.refine((value) => /^[\w.-]+\/[\w.-]+$/.test(value), { error: 'must be "<owner>/<name>"' });
const url = text.refine((value) => /^https?:\/\/[^/\s@]+(?:\/[^\s?#]*[^/\s?#])?$/.test(value), {
  error: "must be an address without a name, a query or a slash at its end",
});

const NO_ID = "must be a number, as GitHub shows it";
const idNumber = z
  .union([z.int().min(1).transform(String), z.string().regex(/^[1-9]\d*$/, { error: NO_ID })], { error: NO_ID })
  .describe("A number, as GitHub shows it.");
const outside = text.refine((path) => /^(\/|~\/)./.test(path) && !path.split("/").includes(".."), {
  error: "must be an absolute path, or begin with ~/",
});

/** A GitHub App that prloom works as. */
const appSchema = z
  .strictObject(
    {
      id: idNumber.describe("The app's id."),
      privateKeyFile: outside.exactOptional().describe("The file with the app's private key. Agents do not see it."),
      privateKeyEnv: variableName.exactOptional().describe("The environment variable that holds the key."),
      installation: idNumber.exactOptional().describe("The id of its installation; asked for where absent."),
    },
    anObject,
  )
  .refine((app) => (app.privateKeyFile === undefined) !== (app.privateKeyEnv === undefined), {
    error: "needs either privateKeyFile or privateKeyEnv",
  });

/** `auto`: rebased until a person has reviewed it; from then on base is merged into it, so that what they said keeps its place. */
const UPDATES = ["auto", "rebase", "merge", "off"] as const;

/** The repository on GitHub that plans come from. */
export const githubSchema = z
  .strictObject(
    {
      repo: repo.describe("`<owner>/<name>`."),
      apiUrl: usually(
        url.describe("The address of the API; of GitHub Enterprise `https://<host>/api/v3`"),
        "https://api.github.com",
      ),
      tokenEnv: usually(variableName.describe("The environment variable that holds the token"), "GITHUB_TOKEN"),
      app: appSchema.exactOptional().describe("A GitHub App to work as."),
      trustedBots: texts
        .readonly()
        .prefault([])
        .describe("Logins of bots (`name[bot]`), and names of apps, whose words are listened to like a writer's. None"),
      trustBoard: usually(
        yesOrNo.describe(
          "Whether an issue that is moved into a column is worked on: GitHub does not tell who moved it",
        ),
        false,
      ),
      rerun: usually(yesOrNo.describe("Whether failed jobs run once more before an agent is asked"), false),
      deleteBranch: usually(
        yesOrNo.describe("With the forge `github`: the branch of a merged pull request is deleted there"),
        true,
      ),
      update: usually(
        z
          .enum(UPDATES, { error: "must be auto, rebase, merge or off" })
          .describe("How a branch gets what its base got, where its pull request needs that"),
        "auto",
      ),
      claim: usually(
        yesOrNo.describe(
          "With the forge `github`: an issue is claimed before its plan is made, so that one clone makes it",
        ),
        true,
      ),
      shownAfter: duration("30s", "How long GitHub may take to show what it took: before, it is not looked for", {
        zero: true,
      }),
      reserve: usually(share.describe("The share of each limit of the token that is left to people"), 0.2),
    },
    anObject,
  )
  .transform(withUnits);
export type GitHubSettings = Readonly<z.output<typeof githubSchema>>;
export type GitHubAppSettings = NonNullable<GitHubSettings["app"]>;
