import * as z from "zod";

/** What became of a plan at its forge. */
export const changeRequestSchema = z.strictObject({
  forge: z.string(),
  ref: z.string(),
  state: z.enum(["open", "merged", "closed"]),
  ready: z.boolean(),
  url: z.string().optional(),
});

/** How much of the plan its forge has, as far as that is on a server. */
export const publishedSchema = z.strictObject({
  /** What the branch is there: what we pushed last, or took over. */
  sha: z.string().optional(),
  /** What it was there, and since when by our clock; newest last. */
  heads: z.array(z.strictObject({ sha: z.string(), at: z.string() })).optional(),
  /** A push of this commit was begun. */
  pushing: z.string().optional(),
  /** A commit of a person that was seen there, and is to be taken over. */
  theirs: z.string().optional(),
  /** Digest of what the change request says. */
  described: z.string().optional(),
  /** Why the newest is not there yet. */
  trouble: z.string().optional(),
  /** The commit for which a person was asked, because of files that not everyone may push; and the newest that one allowed. */
  asked: z.string().optional(),
  allowed: z.string().optional(),
  /** The branch is gone from there, after a merge. */
  deleted: z.literal(true).optional(),
  /** The plan was deleted, and other clones may make one of its source. */
  released: z.literal(true).optional(),
});
export type Published = z.infer<typeof publishedSchema>;

/** TODOs that are done, and where those who asked for them are to be told so once the commit is there. */
export const doneForSchema = z.array(
  z.strictObject({
    todoId: z.string(),
    attempt: z.int(),
    to: z.array(z.strictObject({ target: z.string(), token: z.string().optional() })),
  }),
);
