import type { Payload } from "../../bus/message-types.ts";

/** What an action looks like in a conversation, or why it cannot be shown there. */
export type Rendered = { readonly text: string; readonly key?: string } | { readonly refused: string };

const VERDICTS = { approve: "approved", request_changes: "changes requested", comment: "comments" } as const;

/** Turns the payload of an action into words for a conversation, which refusals name. Merging and closing are handled elsewhere. */
export function renderForThread(payload: Exclude<Payload, { type: "merge" | "close_pr" }>, place: string): Rendered {
  switch (payload.type) {
    case "comment":
      return { text: payload.message, ...(payload.key === undefined ? {} : { key: payload.key }) };
    case "inline_comment":
      return { text: remark(payload) };
    case "review":
      return { text: reviewText(payload.review) };
    case "add_labels":
    case "remove_labels":
      return { refused: `${place} has no labels` };
    case "request_reviewers":
      return { refused: `${place} has no reviewers to ask` };
    case "assign_users":
      return { refused: `${place} has no assignees` };
    case "set_milestone":
      return { refused: `${place} has no milestones` };
    case "upsert_plan":
      return { refused: `${place} makes no plans; upsert_plan goes to the target "prloom-core"` };
    case "notification":
      return { refused: `${place} carries no notifications; they go to the target "human"` };
    default:
      return payload satisfies never;
  }
}

function reviewText({ verdict, summary, comments }: Extract<Payload, { type: "review" }>["review"]): string {
  const remarks = comments.map((comment) => `- ${remark(comment)}`).join("\n");
  return [`Review: ${VERDICTS[verdict]}`, summary.trim(), remarks].filter((part) => part !== "").join("\n\n");
}

function remark({ path, line, message }: { path: string; line: number; message: string }): string {
  return `${path}:${line}: ${message}`;
}
