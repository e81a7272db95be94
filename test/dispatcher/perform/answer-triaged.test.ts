import assert from "node:assert/strict";
import { it } from "node:test";
import type { BusEvent } from "../../../src/bus/types.ts";
import { answerAt } from "../../../src/dispatcher/perform/answer-triaged.ts";

const event = (id: string, token: string, path?: string): BusEvent => ({
  ...{ id, source: "github", type: "comment", severity: "info", title: "", body: id },
  replyTo: { target: "github-pr", token },
  context: path === undefined ? {} : { path },
});

it("each place is told what concerns its events, and the conversation of the whole all of it", () => {
  const [line, other, general] = [event("a", "1#2/7", "x.ts"), event("b", "1#2/8", "y.ts"), event("c", "1#2")];
  assert(line && other && general);
  const result = {
    ...{ reply_markdown: "Thanks to all.", rebase_requested: false },
    replies: [{ event: "b", markdown: "It is meant so." }],
    todos: [{ text: "rename it", events: ["a"] }],
  };
  const triaged = { result, events: [line, other, general], rebased: "" };
  const added = "Added to the plan:\n\n```markdown\n- rename it\n```";
  assert.equal(answerAt(triaged, [line]), added);
  assert.equal(answerAt(triaged, [other]), "It is meant so.");
  assert.equal(answerAt(triaged, [general]), `Thanks to all.\n\n${added}`);
  assert.equal(answerAt(triaged, []), `Thanks to all.\n\n${added}`);
  assert.equal(answerAt({ ...triaged, events: [line] }, [line]), `Thanks to all.\n\n${added}`);
});
