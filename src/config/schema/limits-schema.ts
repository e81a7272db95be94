import * as z from "zod";
import { count, duration, overlayOf, size, usually } from "./fields.ts";
import { withUnits } from "./units.ts";

const amount = z.number({ error: "must be a number" }).positive({ error: "must be more than 0" });

const budget = z.strictObject(
  {
    tokens: count("Tokens, read and written together").exactOptional(),
    usd: amount.describe("US dollars, as programs tell them or as `agents.<name>.price` says").exactOptional(),
    minutes: amount.describe("Minutes that agents work").exactOptional(),
  },
  { error: (issue) => (issue.code === "invalid_type" ? 'must be an object such as {"tokens": 1000000}' : undefined) },
);

const perSource = z.strictObject(
  {
    plans: usually(count("Plans that are not done, drafts aside"), 3),
    usd: amount.describe("US dollars that these plans may have spent together").exactOptional(),
  },
  { error: (issue) => (issue.code === "invalid_type" ? 'must be an object such as {"plans": 3}' : undefined) },
);

const deletionKeys = {
  files: z.int({ error: "must be a whole number" }).min(0).prefault(200),
  percent: z.number({ error: "must be a number" }).min(0).max(100).prefault(20),
};
const DELETIONS =
  "A TODO that deletes more files than this blocks its plan. 200 files, 20 percent; a number: so many files";

/** A number of files, or files and percent. */
function deletions<Shape extends z.ZodType>(shape: Shape) {
  const error = 'must be a number of files, or an object such as {"files": 200, "percent": 20}';
  return z.union([z.int().min(0), shape], { error });
}

const limitKeys = {
  maxRunningAgents: usually(count("Agents that run at the same time"), 3),
  maxOpenPlans: usually(count("Plans that are activated at the same time"), 20),
  attemptsPerTodo: usually(count("Runs that a TODO gets before its plan is blocked"), 3),
  runTimeout: duration("2h", "A run that takes longer is ended"),
  silenceTimeout: duration("30m", "A run that prints nothing for this long is ended"),
  checkTimeout: duration("15m", "A check that takes longer has failed"),
  stopGrace: duration("5s", "Between asking a program to end and killing it", { zero: true }),
  maxOutput: size("16MB", "Output of a run that is kept"),
  maxProcesses: usually(count("Processes and threads that a run may have at the same time"), 2048),
  maxDeletions: deletions(z.strictObject(deletionKeys))
    .transform((given) => (typeof given === "number" ? { files: given, percent: 100 } : given))
    .prefault({})
    .describe(DELETIONS),
  budget: budget.describe("What the agents of one plan may spend; then it is blocked. No limit").prefault({}),
  dailyBudget: budget.describe("What all agents may spend in one day; then none is started. No limit").prefault({}),
  reviewRounds: usually(count("How often the reviewer may send one TODO back"), 2),
  ciAttempts: usually(
    count("Commits that may try to make checks of the change request pass since these passed last"),
    3,
  ),
  commentsPerHour: usually(count("New comments that a plan may make in an hour on GitHub; then it is blocked"), 30),
};

/** Those that count over all plans: no preset or plan has its own. */
const repositoryKeys = {
  perSource: perSource
    .describe("What one person who may not write may have under way; further plans of theirs stay drafts. 3 plans")
    .prefault({}),
};

/** The limits of a config, with their defaults. */
export const limitsSchema = z.strictObject({ ...limitKeys, ...repositoryKeys }).transform(withUnits);

/** The limits of a preset or a plan: only those that it names. */
export const limitsOverlaySchema = z
  .strictObject({
    ...overlayOf(limitKeys),
    maxDeletions: deletions(z.strictObject(overlayOf(deletionKeys)))
      .transform((given) => (typeof given === "number" ? { files: given } : given))
      .exactOptional()
      .describe(DELETIONS),
  })
  .transform(withUnits);
