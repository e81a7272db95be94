import assert from "node:assert/strict";
import { it } from "node:test";
import { judgeGraphql } from "../../../src/github/client/outcome.ts";
import { setUp } from "../setting.ts";

it("what was made too quickly met a limit, in REST and in GraphQL", async (t) => {
  const { github, client, ada } = await setUp(t);
  const { number } = ada.opens({ title: "One" });
  const says = { message: "Validation Failed", errors: [{ code: "custom", message: "was submitted too quickly" }] };
  github.server.faults.add({ kind: "error-before", on: /POST .*comments/, status: 422, says });
  const made = await client.send("POST", `/repos/acme/app/issues/${number}/comments`, { body: { body: "x" } });
  assert(made.kind === "limited" && made.retryAfterMs === 60_000, JSON.stringify(made));
  const data = { data: null, errors: [{ type: "UNPROCESSABLE", message: "was submitted too quickly" }] };
  assert.equal(judgeGraphql({ kind: "ok", headers: {}, data }).kind, "limited");
});
