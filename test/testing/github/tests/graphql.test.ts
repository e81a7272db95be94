import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { schema } from "@octokit/graphql-schema";
import {
  buildSchema,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from "graphql";
import { type FakeGitHub, startFakeGitHub } from "../fake-github.ts";
import { SCHEMA } from "../graphql/execute.ts";
import { reportCheck, runQueue } from "../people.ts";

async function setUp(t: TestContext) {
  const github = await startFakeGitHub();
  t.after(() => github.close());
  const repository = github.repository("acme/app", { ada: "write", bot: "write" });
  const ada = github.person(repository, "ada");
  const token = github.server.accounts.add("bot");
  ada.pushes("dark", { "dark.css": "black\n" });
  const opened = await fetch(`${github.apiUrl}/repos/acme/app/pulls`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ title: "Dark", head: "dark", base: "main", draft: true }),
  });
  const pull = (await opened.json()) as { number: number; node_id: string; head: { sha: string } };
  return {
    github,
    repository,
    ada,
    pull,
    ask: (query: string, variables = {}) => ask(github, token, { query, variables }),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: answers of all kinds.
async function ask(github: FakeGitHub, token: string, body: unknown): Promise<any> {
  const url = github.apiUrl.replace("/api/v3", "/api/graphql");
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  return response.json();
}

describe("the fake GitHub's GraphQL", { concurrency: 2 }, () => {
  it("is a part of what GitHub publishes", () => {
    assert.deepEqual(differences(buildSchema(SCHEMA), buildSchema(schema.idl, { assumeValidSDL: true })), []);
  });

  it("tells reviews, threads and the roll-up of checks", async (t) => {
    const { github, repository, ada, pull, ask } = await setUp(t);
    ada.reviews(pull.number, {
      state: "APPROVED",
      body: "Good.",
      comments: [{ path: "dark.css", line: 1, body: "Nice." }],
    });
    reportCheck(github.world, repository, { sha: pull.head.sha, name: "test", conclusion: "failure" });
    const { data } = await ask(
      `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on PullRequest {
        headRefOid reviewDecision isDraft
        reviews(last: 10) { nodes { state author { login } commit { oid } } }
        reviewThreads(first: 10) { nodes { id isResolved comments(first: 1) { nodes { fullDatabaseId } } } }
        commits(last: 1) { nodes { commit { statusCheckRollup { state contexts(first: 10) { nodes {
          ... on CheckRun { name conclusion isRequired checkSuite { app { slug } } } } } } } } } } }
        rateLimit { cost remaining } }`,
      { ids: [pull.node_id] },
    );
    const [node] = data.nodes;
    assert.deepEqual([node.headRefOid, node.reviewDecision, node.isDraft], [pull.head.sha, "APPROVED", true]);
    assert.equal(node.reviews.nodes[0].author.login, "ada");
    assert.equal(node.reviewThreads.nodes[0].isResolved, false);
    assert.match(node.reviewThreads.nodes[0].comments.nodes[0].fullDatabaseId, /^\d+$/);
    const { state, contexts } = node.commits.nodes[0].commit.statusCheckRollup;
    assert.deepEqual([state, contexts.nodes[0].checkSuite.app.slug], ["FAILURE", "github-actions"]);
    assert.equal(data.rateLimit.cost, 1);
  });

  it("marks a pull request as ready, and queues it where the branch has a queue", async (t) => {
    const { github, repository, pull, ask } = await setUp(t);
    const input = { pullRequestId: pull.node_id };
    const ready =
      "mutation ($input: MarkPullRequestReadyForReviewInput!) { markPullRequestReadyForReview(input: $input) { pullRequest { isDraft } } }";
    assert.equal((await ask(ready, { input })).data.markPullRequestReadyForReview.pullRequest.isDraft, false);
    const queue =
      "mutation ($input: EnqueuePullRequestInput!) { enqueuePullRequest(input: $input) { mergeQueueEntry { state } } }";
    assert.match((await ask(queue, { input })).errors[0].message, /not enabled/);
    repository.rules.set("main", { requiredChecks: [], approvals: 0, mergeQueue: true, refusePush: undefined });
    assert.equal((await ask(queue, { input })).data.enqueuePullRequest.mergeQueueEntry.state, "QUEUED");
    runQueue(github.world, repository);
    assert(repository.issues.get(pull.number)?.pull?.merged);
  });

  it("says that something is not there in an answer with 200", async (t) => {
    const { ask } = await setUp(t);
    const { errors } = await ask('{ repository(owner: "acme", name: "app") { pullRequest(number: 99) { id } } }');
    assert.equal(errors[0].type, "NOT_FOUND");
  });
});

/** Fields, arguments and values of the one that the other does not have, or has with another type. */
function differences(part: GraphQLSchema, whole: GraphQLSchema): string[] {
  return Object.values(part.getTypeMap()).flatMap((type) => {
    const { name } = type;
    if (name.startsWith("__")) return [];
    const published = whole.getType(name);
    if (!published) return [name];
    if ((isObjectType(type) && isObjectType(published)) || (isInterfaceType(type) && isInterfaceType(published))) {
      const fields = published.getFields();
      return Object.values(type.getFields()).flatMap((field) => {
        const known = fields[field.name];
        if (String(known?.type) !== String(field.type)) return [`${name}.${field.name}: ${known?.type}`];
        if (known?.deprecationReason) return [`${name}.${field.name}: ${known.deprecationReason}`];
        const wrong = field.args.filter(
          (arg) => String(known?.args.find((one) => one.name === arg.name)?.type) !== String(arg.type),
        );
        return wrong.map((arg) => `${name}.${field.name}(${arg.name})`);
      });
    }
    if (isInputObjectType(type) && isInputObjectType(published)) {
      const fields = published.getFields();
      return Object.values(type.getFields()).flatMap((field) =>
        String(fields[field.name]?.type) === String(field.type) ? [] : [`${name}.${field.name}`],
      );
    }
    if (isEnumType(type) && isEnumType(published))
      return type
        .getValues()
        .filter((value) => !published.getValue(value.name))
        .map((value) => `${name}.${value.name}`);
    if (isUnionType(type) && isUnionType(published)) {
      const members = published.getTypes().map(String);
      return type
        .getTypes()
        .filter((member) => !members.includes(String(member)))
        .map((member) => `${name}: ${member}`);
    }
    return type.constructor === published.constructor ? [] : [name];
  });
}
