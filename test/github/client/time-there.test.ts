import assert from "node:assert/strict";
import { it } from "node:test";
import { GitHubClient } from "../../../src/github/client/client.ts";
import { environmentToken } from "../../../src/github/client/tokens.ts";

it("GitHub's clock is read from its own answers, not from those of a proxy", async () => {
  const headers: Record<string, string> = { date: "Thu, 01 Jan 2026 02:00:00 GMT" };
  const now = Date.parse("2026-01-01T00:00:00Z");
  const client = new GitHubClient({
    ...{ apiUrl: "http://localhost", token: environmentToken({ T: "t" }, "T"), clock: { now: () => now }, reserve: 0 },
    send: async () => ({ status: 502, headers, data: "bad gateway" }),
  });
  await client.get("/user");
  assert.equal(client.timeThere(), now);
  headers["x-github-request-id"] = "1";
  await client.get("/user");
  assert.equal(client.timeThere(), now + 2 * 3_600_000 + 1000);
});
