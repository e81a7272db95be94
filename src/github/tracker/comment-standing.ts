import * as z from "zod";
import type { Standing } from "../../bridges/tracker/port.ts";
import { CallError } from "../pages.ts";
import type { RepositoryCalls } from "../repository.ts";

const EDITED =
  "query ($ids: [ID!]!) { nodes(ids: $ids) { ... on IssueComment { id lastEditedAt } ... on PullRequestReviewComment { id lastEditedAt } } }";
const editedSchema = z.object({
  nodes: z.array(z.object({ id: z.string(), lastEditedAt: z.string().nullable() }).nullable()),
});
const AT_ONCE = 100;

/** Their times have whole seconds: an edit in the one in which it was written shows only here. A hundred with one question: anyone may write many. */
export async function standingOfComments(
  { client }: RepositoryCalls,
  comments: readonly { readonly id: number; readonly node_id: string }[],
): Promise<ReadonlyMap<number, Standing>> {
  const standing = new Map<number, Standing>();
  for (let from = 0; from < comments.length; from += AT_ONCE) {
    const some = comments.slice(from, from + AT_ONCE);
    const outcome = await client.graphql(EDITED, { ids: some.map(({ node_id: id }) => id) });
    if (outcome.kind !== "ok") throw new CallError("whether comments were edited", outcome);
    const found = editedSchema.parse(outcome.data).nodes.flatMap((node) => node ?? []);
    const edited = new Map(found.map(({ id, lastEditedAt }) => [id, lastEditedAt]));
    for (const { id, node_id: node } of some) {
      const at = edited.get(node);
      standing.set(id, at === undefined ? "gone" : at === null ? "as-written" : "edited");
    }
  }
  return standing;
}
