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
  /** What it was there, and since when by its clock; newest last. */
  heads: z.array(z.strictObject({ sha: z.string(), at: z.string() })).optional(),
  /** A push of this commit was begun. */
  pushing: z.string().optional(),
  /** A commit of a person that was seen there, and is to be taken over. */
  theirs: z.string().optional(),
  /** Digests of what the change request says, and of its title when we gave it one: what people make of that stays. */
  described: z.string().optional(),
  titled: z.string().optional(),
  /** The base that we gave it last: another one is a person's wish, or GitHub renamed it. */
  based: z.string().optional(),
  /** It is being marked ready, or was: a draft after that is a person's wish. One that a person marked before is left alone. */
  ready: z.enum(["asked", "given"]).optional(),
  /** Why the newest is not there yet. */
  trouble: z.string().optional(),
  /** The commit for which a person was asked, because of files that not everyone may push; and the newest that one allowed. */
  asked: z.string().optional(),
  allowed: z.string().optional(),
  /** The commit that was merged there. */
  merged: z.string().optional(),
  /** The commit that it has in its merge queue, and since when; and the one that is not in there any more, while that is to be told. */
  queued: z.strictObject({ sha: z.string(), at: z.string() }).optional(),
  unqueued: z.strictObject({ sha: z.string(), at: z.string() }).optional(),
  /** The change request of a stacked plan is closed there: by a person, or because its base is gone. */
  closed: z.literal(true).optional(),
  /** The branch is gone from there, after a merge. */
  deleted: z.literal(true).optional(),
  /** The plan was deleted, and other clones may make one of its source. */
  released: z.literal(true).optional(),
});
export type Published = z.infer<typeof publishedSchema>;

/** Its branch is to get what its base has. */
export const behindSchema = z.strictObject({
  /** Its server asks for it: a rule does, or the two conflict. `stack`: it stood on the branch of a plan that has ended. */
  why: z.enum(["behind", "conflict", "stack"]),
  /** Base is being merged into it: the commit that the branch is at, the merge, and the commit of base. */
  merge: z.strictObject({ from: z.string(), to: z.string(), onto: z.string() }).optional(),
});

/** Its branch stands on that of another plan, by its uid: that one's branch is its base. */
export const stackSchema = z.strictObject({ on: z.string() });

/** Where people are told something. */
export const placesSchema = z.array(z.strictObject({ target: z.string(), token: z.string().optional() }));

/** TODOs that are done, and where those who asked for them are to be told so once the commit is there. */
export const doneForSchema = z.array(
  z.strictObject({
    todoId: z.string(),
    attempt: z.int(),
    to: placesSchema,
  }),
);
