import { CallError } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";
import { type Review, type ReviewThread, TALK, talkSchema } from "./pull-news.ts";

/** All reviews and threads of one, page by page. */
export async function talkOf(
  { client }: RepositoryCalls,
  id: string,
  plan: string | undefined,
): Promise<{ readonly reviews: readonly Review[]; readonly threads: readonly ReviewThread[] }> {
  const all: { reviews: Review[]; threads: ReviewThread[] } = { reviews: [], threads: [] };
  let after: { reviews: string | null; threads: string | null } = { reviews: null, threads: null };
  for (;;) {
    const outcome = await client.graphql(TALK, { id, ...after }, plan);
    if (outcome.kind !== "ok") throw new CallError("reviews", outcome);
    const { node } = talkSchema.parse(outcome.data);
    if (!node) throw new Error("GitHub does not tell its reviews");
    const { reviews, reviewThreads } = node;
    all.reviews.push(...(reviews?.nodes ?? []));
    all.threads.push(...reviewThreads.nodes);
    if (!reviews?.pageInfo.hasNextPage && !reviewThreads.pageInfo.hasNextPage) return all;
    // One that is at its end is asked for what is behind its end, which is nothing.
    after = {
      reviews: reviews?.pageInfo.endCursor ?? after.reviews,
      threads: reviewThreads.pageInfo.endCursor ?? after.threads,
    };
  }
}
