import type { PostedGate } from "../../src/gate/judge-comment.ts";
import { A, B, type Case } from "./comments.ts";

const posting = (gateId: string): PostedGate => ({ gateId, state: "open", isPosting: true });

/** Answers to a gate of which not all is known to be there. */
export const BEING_POSTED: readonly Case[] = [
  { body: "approved", gates: [posting(A)], outcome: `none, awaits ${A}` },
  { body: `/approve ${B}`, gates: [{ gateId: A, state: "revised" }, posting(B)], outcome: `none, awaits ${B}` },
  { body: "/reject no", gates: [posting(A)], outcome: `none, awaits ${A}` },
  // When it was posted is not known yet by the clock that the comment has its time from.
  { body: "approved", about: { at: 1 }, gates: [{ ...posting(A), postedAt: 2 }], outcome: `none, awaits ${A}` },
];
