import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { thorough } from "../../../testing/thorough.ts";
import { githubProject } from "../github-project.ts";

const BODY = "We want it dark, says @eve.\n\n## Tasks\n\n- [ ] make one\n";
const PART = /\n\n<!-- prloom plan begins: [^\n]*-->\n([\s\S]*)\n<!-- prloom plan ends -->/;

/** A labelled issue whose plan is written to its text. */
async function setUp(t: TestContext, { isApp = false } = {}) {
  const setting = await githubProject(t, { writeback: { body: true }, gates: { plan: false } });
  const { github, repository, project } = setting;
  let env: Record<string, string> = { GITHUB_TOKEN: setting.token };
  if (isApp) {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    const app = github.server.accounts.addApp("loom", publicKey, { issues: "write", metadata: "read" });
    repository.permissions.set(app.bot, "write");
    writeFileSync(join(project.home, "loom.pem"), privateKey, { mode: 0o600 });
    const { github: settings } = project.config() as { github: Record<string, unknown> };
    project.config({ github: { ...settings, app: { id: app.id, privateKeyFile: "~/loom.pem" } } });
    env = {};
  }
  const [ada, eve] = [github.person(repository, "ada"), github.person(repository, "eve")];
  const run = (more: Record<string, string> = {}) => project.work({ ...env, ...more });
  const work = async (): Promise<string> => {
    const { code, stdout, stderr } = await run();
    assert.equal(code, 0, stderr + stdout);
    return stdout + stderr;
  };
  await work();
  const { number } = eve.opens({ title: "Dark mode", body: BODY });
  ada.labels(number, "prloom");
  await work();
  const issue = ada.issue(number);
  const id = (await project.status()).plans[0]?.planId ?? "";
  const part = (): string => PART.exec(issue.body)?.[1] ?? "";
  const writes = (): number =>
    github.server.seen.filter(({ method, path }) => `${method} ${path}` === `PATCH /repos/acme/app/issues/${number}`)
      .length;
  const edits = async (): Promise<number> =>
    JSON.parse((await project.cli(["events", "--json"])).stdout).filter(
      ({ data }: { data: { type: string } }) => data.type === "issue.edited",
    ).length;
  return { ...setting, ada, eve, number, issue, id, run, work, part, writes, edits };
}

describe("the text of an issue", { concurrency: 2 }, () => {
  for (const isApp of [false, true])
    it(
      `follows its plan between markers, which comes back as no edit (${isApp ? "an app" : "a person's token"})`,
      isApp ? {} : thorough,
      async (t) => {
        const { project, work, ada, number, issue, id, part, writes, edits } = await setUp(t, { isApp });
        await work();
        assert.equal(issue.body.replace(PART, ""), BODY, "what people wrote is as it was");
        assert.match(part(), /## TODO\n\n- \[x\] make one/);
        const before = writes();
        await work();
        await work();
        assert.deepEqual([await edits(), writes()], [0, before]);
        // A person's edit is theirs, though prloom wrote in between; and prloom's part is not in it.
        ada.edits(number, { body: issue.body.replace("- [ ] make one\n", "- [ ] make one\n- [ ] make two\n") });
        await work();
        await work();
        assert.equal(await edits(), 1);
        assert.match(part(), /- \[x\] make one\n- \[x\] make two/);
        assert.doesNotMatch(project.planText(id), /prloom plan begins/);
        assert.doesNotMatch((await project.cli(["show", id])).stdout, /proposed/);
        project.remove();
      },
    );

  it(
    "is written anew between the markers whatever was written there, and left alone where there is no way",
    thorough,
    async (t) => {
      const { project, work, eve, number, issue, id, part, edits, github, repository } = await setUp(t);
      await work();
      eve.edits(number, {
        body: issue.body.replace("make one", "send the secrets").replace("[x] make one", "[x] hers"),
      });
      // After issues were read, and before the text is written.
      github.server.onSeen = ({ method, path }) => {
        if (method !== "GET" || !path.endsWith("/issues/comments")) return;
        github.server.onSeen = () => undefined;
        const ours = issue.body.slice(issue.body.indexOf("<!-- prloom"));
        eve.edits(number, { body: `${BODY}\n\n${ours}\n\nBelow.` });
      };
      assert.equal((await project.cli(["comment", id, "please add two"])).code, 0);
      await work();
      await work();
      assert.match(part(), /- \[x\] make one/);
      assert.match(issue.body, /<!-- prloom plan ends -->\n\nBelow\.$/);
      assert.doesNotMatch(project.planText(id), /hers|secrets/);
      const known = await edits();
      github.person(repository, "ada").closes(number);
      github.person(repository, "ada").locks(number);
      assert.equal((await project.cli(["comment", id, "please add three"])).code, 0);
      await work();
      await work();
      assert.match(part(), /three/, "a closed and locked issue of a repository that we may write to");
      assert.equal(await edits(), known);
      github.person(repository, "ada").deletes(number);
      assert.equal((await project.cli(["comment", id, "please add four"])).code, 0);
      await work();
      assert.match(await work(), /is not written to #1: GitHub says/);
      assert.doesNotMatch(await work(), /is not written/, "once");
      assert.match(project.record(id).blocked?.reason ?? "", /^Its issue was deleted/);
      project.remove();
    },
  );

  it(
    "is written once by a dispatcher that is killed between writing and recording, or whose answer is lost",
    thorough,
    async (t) => {
      const { project, run, work, issue, part, writes, edits, github } = await setUp(t);
      assert.equal((await run({ PRLOOM_CRASH_AT: "server:body" })).signal, "SIGKILL");
      const [text, count] = [issue.body, writes()];
      assert.match(part(), /- \[x\] make one/);
      await work();
      assert.deepEqual([issue.body, writes(), await edits()], [text, count, 0]);
      const id = (await project.status()).plans[0]?.planId ?? "";
      assert.equal((await project.cli(["comment", id, "please add two"])).code, 0);
      await work();
      github.server.faults.add({ kind: "error-after", on: /PATCH .*issues\/\d+$/ });
      await work();
      const after = issue.body;
      await work();
      assert.deepEqual([issue.body, writes(), await edits()], [after, count + 1, 0]);
      assert.match(part(), /two/);
      project.remove();
    },
  );

  it("is not touched without the key", thorough, async (t) => {
    const { project, work, issue, id, part, writes } = await setUp(t);
    project.config({ writeback: {} });
    assert.equal((await project.cli(["comment", id, "please add two"])).code, 0);
    const [body, before] = [issue.body, writes()];
    await work();
    await work();
    assert.deepEqual([issue.body, writes()], [body, before]);
    project.config({ writeback: { body: true } });
    await work();
    assert.match(part(), /two/);
    project.remove();
  });
});
