import { addComment, editComment, note, openIssue, rewrite, setState, touch } from "../deeds.ts";
import { commentShape, issueEventShape, issueShape, labelShape, milestoneShape } from "../shapes/issue.ts";
import { userShape } from "../shapes/people.ts";
import { type Comment, type Issue, mayDo, permissionOf } from "../world.ts";
import {
  bodyText,
  byUpdate,
  type Call,
  created,
  invalid,
  issueOf,
  notFound,
  ok,
  paged,
  Refusal,
  type Route,
  reads,
  requireText,
  requireUnlocked,
  text,
  writes,
} from "./route.ts";

const shapeOf = (call: Call, issue: Issue): unknown => issueShape(call.api, call.repository, issue);
const shapeOfComment = (call: Call, issue: Issue, comment: Comment): unknown =>
  commentShape(call.api, { repository: call.repository, issue, comment });

export const issueRoutes: readonly Route[] = [
  {
    ...{ method: "GET", path: "/issues", needs: reads("issues") },
    handle(call) {
      const state = call.query.get("state") ?? "open";
      const label = call.query.get("labels");
      const all = [...call.repository.issues.values()].filter(
        (issue) =>
          (state === "all" || issue.state === state) &&
          (label === null || label.split(",").every((one) => issue.labels.has(one))),
      );
      return paged(call, "/issues", { all: byUpdate(call, all), shape: (issue) => shapeOf(call, issue) });
    },
  },
  {
    ...{ method: "POST", path: "/issues", needs: writes("issues", "read") },
    handle(call) {
      const title = requireText(call, "title", "Issue");
      const body = bodyText(text(call, "body") ?? "");
      return created(shapeOf(call, openIssue(call.world, call.repository, call.user, { title, body })));
    },
  },
  {
    ...{ method: "GET", path: "/issues/{number}", needs: reads("issues") },
    handle: (call) => ok(shapeOf(call, issueOf(call))),
  },
  {
    ...{ method: "PATCH", path: "/issues/{number}", needs: writes("issues", "read") },
    handle(call) {
      const issue = issueOf(call);
      if (issue.user !== call.user && !mayDo(call.repository, call.user, "triage"))
        throw new Refusal(403, "Must have admin rights to Repository.");
      const [title, body] = [text(call, "title"), text(call, "body")];
      rewrite(call.world, issue, call.user, {
        ...(title === undefined ? {} : { title }),
        ...(body === undefined ? {} : { body: bodyText(body) }),
      });
      if (call.body.milestone !== undefined) issue.milestone = Number(call.body.milestone) || undefined;
      touch(call.world, issue);
      const state = text(call, "state");
      if (state === "open" || state === "closed") setState(call.world, issue, { by: call.user, state });
      return ok(shapeOf(call, issue));
    },
  },
  {
    ...{ method: "GET", path: "/issues/comments", needs: reads("issues") },
    handle(call) {
      const all = [...call.repository.issues.values()].flatMap((issue) =>
        issue.comments.map((comment) => ({ issue, comment, ...times(comment) })),
      );
      return paged(call, "/issues/comments", {
        all: byUpdate(call, all),
        shape: ({ issue, comment }) => shapeOfComment(call, issue, comment),
      });
    },
  },
  {
    ...{ method: "GET", path: "/issues/comments/{comment}", needs: reads("issues") },
    handle(call) {
      const { issue, comment } = commentOf(call);
      return ok(shapeOfComment(call, issue, comment));
    },
  },
  {
    ...{ method: "PATCH", path: "/issues/comments/{comment}", needs: writes("issues", "read") },
    handle(call) {
      const { issue, comment } = commentOf(call);
      if (comment.user !== call.user && !mayDo(call.repository, call.user, "write"))
        throw new Refusal(403, "Must have admin rights to Repository.");
      editComment(call.world, comment, bodyText(requireText(call, "body", "IssueComment")));
      return ok(shapeOfComment(call, issue, comment));
    },
  },
  {
    ...{ method: "GET", path: "/issues/{number}/comments", needs: reads("issues") },
    handle(call) {
      const issue = issueOf(call);
      const since = Date.parse(call.query.get("since") ?? "") || 0;
      const all = issue.comments.filter(({ updatedAt }) => Date.parse(updatedAt) >= since);
      return paged(call, `/issues/${issue.number}/comments`, {
        all,
        shape: (comment) => shapeOfComment(call, issue, comment),
      });
    },
  },
  {
    ...{ method: "POST", path: "/issues/{number}/comments", needs: writes("issues", "read") },
    handle(call) {
      const issue = issueOf(call);
      requireUnlocked(call, issue);
      const body = bodyText(requireText(call, "body", "IssueComment"));
      return created(
        shapeOfComment(call, issue, addComment(call.world, issue, { by: call.user, body, app: call.token.app })),
      );
    },
  },
  {
    ...{ method: "POST", path: "/issues/{number}/labels", needs: writes("issues", "triage") },
    handle(call) {
      const issue = issueOf(call);
      for (const label of strings(call, "labels")) {
        call.repository.labels.add(label);
        if (!issue.labels.has(label)) note(call.world, issue, { event: "labeled", actor: call.user, label });
        issue.labels.add(label);
      }
      return ok([...issue.labels].map((name) => labelShape(call.api, call.repository, name)));
    },
  },
  {
    ...{ method: "DELETE", path: "/issues/{number}/labels/{label}", needs: writes("issues", "triage") },
    handle(call) {
      const issue = issueOf(call);
      const { label = "" } = call.params;
      if (!issue.labels.delete(label)) throw new Refusal(404, "Label does not exist");
      note(call.world, issue, { event: "unlabeled", actor: call.user, label });
      return ok([...issue.labels].map((name) => labelShape(call.api, call.repository, name)));
    },
  },
  {
    ...{ method: "POST", path: "/issues/{number}/assignees", needs: writes("issues", "triage") },
    handle(call) {
      const issue = issueOf(call);
      // Those who cannot be assigned are left out without a word, as GitHub does.
      const users = strings(call, "assignees").map((login) => call.world.users.get(login.toLowerCase()));
      for (const assignee of users) {
        if (!assignee || !mayDo(call.repository, assignee, "triage") || issue.assignees.has(assignee)) continue;
        issue.assignees.add(assignee);
        note(call.world, issue, { event: "assigned", actor: call.user, assignee });
      }
      return created(shapeOf(call, issue));
    },
  },
  {
    ...{ method: "GET", path: "/issues/{number}/events", needs: reads("issues") },
    handle(call) {
      const issue = issueOf(call);
      return paged(call, `/issues/${issue.number}/events`, {
        all: issue.events,
        shape: (event) => issueEventShape(call.api, call.repository, event),
      });
    },
  },
  {
    ...{ method: "GET", path: "/milestones", needs: reads("issues") },
    handle: (call) =>
      ok(call.repository.milestones.map((_, index) => milestoneShape(call.api, call.repository, index + 1))),
  },
  {
    ...{ method: "GET", path: "/collaborators/{login}/permission", needs: { ...reads("metadata"), least: "write" } },
    handle(call) {
      const user = call.world.users.get((call.params.login ?? "").toLowerCase());
      if (!user) throw notFound();
      const role = permissionOf(call.repository, user);
      // The old field knows four words; `role_name` has the others.
      const permission = role === "maintain" ? "write" : role === "triage" ? "read" : role;
      return ok({ permission, role_name: role, user: { ...userShape(call.api, user), role_name: role } });
    },
  },
];

const times = ({ createdAt, updatedAt }: Comment): { createdAt: string; updatedAt: string } => ({
  createdAt,
  updatedAt,
});

function commentOf(call: Call): { issue: Issue; comment: Comment } {
  for (const issue of call.repository.issues.values()) {
    const comment = issue.comments.find(({ id }) => id === Number(call.params.comment));
    if (comment) return { issue, comment };
  }
  throw notFound();
}

function strings(call: Call, name: string): string[] {
  const value = call.body[name];
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw invalid({ resource: "Issue", field: name, code: "invalid" });
}
