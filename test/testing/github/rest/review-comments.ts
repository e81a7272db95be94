import { addReviewComment } from "../deeds.ts";
import { reviewCommentShape } from "../shapes/pull.ts";
import { emptyReview, pullOf, requireInDiff } from "./pulls.ts";
import {
  bodyText,
  byUpdate,
  created,
  notFound,
  paged,
  type Route,
  reads,
  requireText,
  requireUnlocked,
  writes,
} from "./route.ts";

/** Comments on lines of pull requests. */
export const reviewCommentRoutes: readonly Route[] = [
  {
    ...{ method: "GET", path: "/pulls/comments", needs: reads("pull_requests") },
    handle(call) {
      const all = [...call.repository.issues.values()].flatMap((issue) =>
        (issue.pull?.reviewComments ?? []).map((comment) => ({
          issue,
          comment,
          createdAt: comment.createdAt,
          updatedAt: comment.updatedAt,
        })),
      );
      return paged(call, "/pulls/comments", {
        all: byUpdate(call, all),
        shape: (one) => reviewCommentShape(call.api, call.repository, one),
      });
    },
  },
  {
    ...{ method: "GET", path: "/pulls/{number}/comments", needs: reads("pull_requests") },
    handle(call) {
      const issue = pullOf(call);
      return paged(call, `/pulls/${issue.number}/comments`, {
        all: issue.pull.reviewComments,
        shape: (comment) => reviewCommentShape(call.api, call.repository, { issue, comment }),
      });
    },
  },
  {
    ...{ method: "POST", path: "/pulls/{number}/comments", needs: writes("pull_requests", "read") },
    handle(call) {
      const issue = pullOf(call);
      requireUnlocked(call, issue);
      const path = requireText(call, "path", "PullRequestReviewComment");
      requireInDiff(issue, path);
      const body = bodyText(requireText(call, "body", "PullRequestReviewComment"));
      const review = emptyReview(call, issue);
      const line = call.body.line === undefined ? undefined : Number(call.body.line);
      const comment = addReviewComment(call.world, issue, { by: call.user, review, path, line, body });
      return created(reviewCommentShape(call.api, call.repository, { issue, comment }));
    },
  },
  {
    ...{ method: "POST", path: "/pulls/{number}/comments/{comment}/replies", needs: writes("pull_requests", "read") },
    handle(call) {
      const issue = pullOf(call);
      requireUnlocked(call, issue);
      const replyTo = issue.pull.reviewComments.find(({ id }) => id === Number(call.params.comment));
      if (!replyTo) throw notFound();
      const body = bodyText(requireText(call, "body", "PullRequestReviewComment"));
      const { path, line } = replyTo;
      const comment = addReviewComment(call.world, issue, {
        by: call.user,
        review: emptyReview(call, issue),
        path,
        line,
        body,
        replyTo,
      });
      return created(reviewCommentShape(call.api, call.repository, { issue, comment }));
    },
  },
];
