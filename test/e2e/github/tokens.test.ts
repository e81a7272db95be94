import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { installGh } from "../../testing/gh.ts";
import type { Project } from "../../testing/project.ts";
import { thorough } from "../../testing/thorough.ts";
import { type GitHubProject, githubProject } from "./github-project.ts";
import { publishingProject } from "./publishing-project.ts";

const BODY = "## Tasks\n\n- [ ] make one\n";

/** An issue is labelled, approved and worked on; what every command told. */
async function worked({ github, repository, project }: GitHubProject, env: Record<string, string>): Promise<string> {
  const told: string[] = [];
  const work = async (): Promise<void> => {
    const { code, stdout, stderr } = await project.work(env);
    told.push(stdout, stderr);
    assert.equal(code, 0, stdout + stderr);
  };
  await work();
  const ada = github.person(repository, "ada");
  const { number } = ada.opens({ title: "Once", body: BODY });
  ada.labels(number, "prloom");
  await work();
  ada.comments(number, "approved");
  await work();
  const id = (await project.status()).plans[0]?.planId ?? "";
  assert.equal(project.record(id).status, "review");
  for (const args of [["status", "--json"], ["show", id], ["logs", id], ["events", id], ["doctor"]]) {
    const { stdout, stderr } = await project.cli(args, env);
    told.push(stdout, stderr);
  }
  return told.join("\n");
}

/** Files of the project, its git folder and homes included, in which one of these stands. */
function filesWith(project: Project, secrets: readonly string[], except = "nothing"): string[] {
  const patterns = secrets.flatMap((secret) => ["-e", secret]);
  const args = ["-rlaF", `--exclude=${except}`, ...patterns, dirname(project.root)];
  try {
    return execFileSync("grep", args, { encoding: "utf8" }).split("\n").filter(Boolean);
  } catch (error) {
    assert.equal((error as { status?: number }).status, 1);
    return [];
  }
}

describe("tokens for GitHub", { concurrency: 2 }, () => {
  it(
    "may be revoked in the middle of work: with another one it goes on, and nothing is there twice",
    thorough,
    async (t) => {
      const { project, github, repository, token, pulls, there } = await publishingProject(t);
      github.server.onSeen = ({ method, path }) => {
        if (method === "POST" && path.endsWith("/pulls")) github.server.accounts.revoke(token);
      };
      project.plan("dark", ["make one", "make two"]);
      await project.work({ GITHUB_TOKEN: token });
      const { status, blocked, published } = project.record("dark");
      assert.deepEqual([status, blocked], ["review", undefined]);
      assert.match(published?.trouble ?? "", /the server does not take the token|Bad credentials/);
      await project.work({ GITHUB_TOKEN: github.server.accounts.add("bot") });
      assert.equal(there("prloom/dark"), project.git("rev-parse", "prloom/dark").trim());
      assert.deepEqual([pulls().length, pulls()[0]?.pull?.draft], [1, false]);
      assert.equal(project.record("dark").published?.trouble, undefined);
      assert.equal(repository.issues.size, 1);
    },
  );

  it("come from a variable, and are nowhere afterwards", thorough, async (t) => {
    const setting = await githubProject(t);
    const told = await worked(setting, { GITHUB_TOKEN: setting.token });
    assert.match(told, /as bot, by the variable GITHUB_TOKEN/);
    const { github: usage, plans } = await setting.project.status();
    assert(usage && usage.lastHour > 0);
    const { core } = usage.limits;
    assert(core && core.limit === 5000 && core.remaining < 5000);
    assert.deepEqual(Object.keys(usage.plans), [plans[0]?.planId]);
    const { stdout } = await setting.project.cli(["status"]);
    assert.match(stdout, /^GitHub: acme\/app, \d+ calls in the last hour \(most for once-.*of 5000 are left, 1000 of/m);
    assert.deepEqual(filesWith(setting.project, [setting.token]), []);
    assert(!told.includes(setting.token));
    setting.project.remove();
  });

  it("come from gh where no variable has one, and are nowhere afterwards", thorough, async (t) => {
    const setting = await githubProject(t);
    const { github, project, token } = setting;
    const folder = mkdtempSync(join(tmpdir(), "prloom-gh-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    installGh(folder, new URL(github.apiUrl).host, token);
    const told = await worked(setting, { PATH: `${folder}:${dirname(process.execPath)}:${process.env.PATH}` });
    assert.match(told, /as bot, by gh auth token/);
    assert.deepEqual(filesWith(project, [token]), []);
    assert(!told.includes(token));
    project.remove();
  });

  it("come for the key of an app, which writes under its own name, and are nowhere afterwards", async (t) => {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    const setting = await githubProject(t);
    const { github, repository, project } = setting;
    const app = github.server.accounts.addApp("loom", publicKey, { issues: "write", metadata: "read" });
    repository.permissions.set(app.bot, "write");
    const file = join(project.home, "loom.pem");
    writeFileSync(file, privateKey, { mode: 0o600 });
    const settings = { repo: "acme/app", apiUrl: github.apiUrl, app: { id: app.id, privateKeyFile: "~/loom.pem" } };
    project.config({ github: settings });
    const told = await worked(setting, {});
    assert.match(told, /as loom\[bot\], by the GitHub App/);
    const authors = repository.issues.get(1)?.comments.map(({ user }) => user.login);
    assert.deepEqual([...new Set(authors)].sort(), ["ada", "loom[bot]"]);
    const [, keyLine = ""] = privateKey.split("\n");
    assert.deepEqual(filesWith(project, ["ghs_", keyLine], "loom.pem"), []);
    assert(!told.includes("ghs_") && !told.includes(keyLine));
    project.remove();
  });
});
