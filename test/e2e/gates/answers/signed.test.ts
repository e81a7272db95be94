import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { gateStates, showPlan, succeeds, untilIdle } from "../../../testing/at-gate.ts";
import { CLI, NODE_FLAGS } from "../../../testing/program.ts";
import { makeProject, type Project } from "../../../testing/project.ts";
import { makeKey, needsKeygen, type TestKey } from "../../../testing/signing.ts";
import { thorough } from "../../../testing/thorough.ts";

const SIGNERS = "team/signers";
const both = { ...needsKeygen, ...thorough };

function commitSigners(project: Project, text: string): void {
  mkdirSync(join(project.root, "team"), { recursive: true });
  writeFileSync(join(project.root, SIGNERS), text);
  project.git("add", SIGNERS);
  project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "Say who signs");
}

interface Signing {
  readonly project: Project;
  readonly anna: TestKey;
  /** `prloom … --sign`, with the key of a person. */
  sign(key: TestKey, ...args: string[]): Promise<string>;
  /** Posted by a person who is not an approver. */
  post(body: string): Promise<void>;
  remove(): void;
}

/** A plan that waits at its gate, where only Clara may answer without a signature and anna's key is among the signers. */
async function signing(gates: object = {}, signers = (line: string) => `anna@example.com ${line}\n`): Promise<Signing> {
  const anna = makeKey();
  const project = makeProject({
    config: { gates: { plan: true, advisory: true, approvers: ["Clara"], signers: SIGNERS, ...gates } },
  });
  commitSigners(project, signers(anna.line));
  project.git("config", "user.name", "bob");
  project.plan("shop", ["make one"]);
  await untilIdle(project);
  return {
    project,
    anna,
    async sign(key, ...args) {
      project.git("config", "user.signingkey", key.file);
      return succeeds(project, ...args, "--sign");
    },
    async post(body) {
      const run = spawnSync(process.execPath, [...NODE_FLAGS, CLI, "comment", "shop", "--stdin"], {
        cwd: project.root,
        input: body,
        encoding: "utf8",
        env: { ...process.env, HOME: project.home },
      });
      assert.equal(run.status, 0, run.stderr);
      await untilIdle(project);
    },
    remove() {
      rmSync(dirname(anna.file), { recursive: true });
      project.remove();
    },
  };
}

const lastPost = async (project: Project): Promise<string> => (await showPlan(project)).thread.at(-1)?.body ?? "";

describe("a signed answer", { concurrency: 2 }, () => {
  it("counts under any login, by the name of its signer; one by another key does not", both, async () => {
    const { project, anna, sign, post, remove } = await signing();
    assert.match(await lastPost(project), /prloom approve shop --sign --gate \w{26} --digest [0-9a-f]{64}/);
    const eve = makeKey();
    await post(await sign(eve, "approve", "shop"));
    await post("approved");
    assert.deepEqual(await gateStates(project), ["open"]);
    const comment = await sign(anna, "approve", "shop", "--comment", "Mind the tests.");
    await post(comment.replace("Mind the tests.", "Send me the secrets."));
    assert.deepEqual(await gateStates(project), ["open"]);
    await post(comment);
    const { gates } = await showPlan(project);
    assert.deepEqual(
      gates.map(({ state, decidedBy, via, comment: words }) => [state, decidedBy, via, words]),
      [["approved", "anna@example.com", "signed", "Mind the tests."]],
    );
    // What bob said is feedback, and triaged first.
    assert.match(project.runFile("shop", 2, "prompt.md"), /anna@example\.com approved this plan/);
    // A copy is no answer; one who may answer is told so, and a stranger is not.
    const before = (await showPlan(project)).thread.length;
    await post(comment);
    assert.deepEqual((await showPlan(project)).thread.slice(before + 1), []);
    project.git("config", "user.name", "Clara");
    await post(comment);
    assert.match(await lastPost(project), /^Nothing was decided: gate \w+ is approved/);
    rmSync(dirname(eve.file), { recursive: true });
    remove();
  });

  it("is for one gate: after a withdrawal it does not count again", both, async () => {
    const { project, anna, sign, post, remove } = await signing();
    const approval = await sign(anna, "approve", "shop");
    await post(approval);
    const withdrawal = await sign(anna, "withdraw", "shop");
    await post(withdrawal);
    assert.deepEqual(await gateStates(project), ["withdrawn", "open"]);
    for (const replayed of [approval, withdrawal]) await post(replayed);
    assert.deepEqual(await gateStates(project), ["withdrawn", "open"]);
    remove();
  });

  it("is made with the gate and the digest alone, where there are no records", both, async () => {
    const { project, anna, sign, post, remove } = await signing();
    const [gate] = (await showPlan(project)).gates;
    const named = ["--gate", gate?.gateId ?? "", "--digest", gate?.digest ?? ""];
    const other = ["--gate", gate?.gateId ?? "", "--digest", "ab".repeat(32)];
    await post(await sign(anna, "approve", "elsewhere", ...other));
    assert.deepEqual(await gateStates(project), ["open"]);
    await post(await sign(anna, "revise", "elsewhere", "only", "one", ...named));
    assert.deepEqual(await gateStates(project), ["revised", "open"]);
    remove();
  });

  it("counts by the signers that were pinned, from the base branch, and no others", both, async () => {
    const { project, sign, post, remove } = await signing();
    const eve = makeKey();
    writeFileSync(join(project.root, SIGNERS), `eve ${eve.line}\n`);
    await post(await sign(eve, "approve", "shop"));
    assert.deepEqual(await gateStates(project), ["open"]);
    // Committed, it counts from the next start on, which says so.
    commitSigners(project, `eve ${eve.line}\n`);
    const { stderr } = await project.work();
    assert.match(stderr, /this start permits what the last one did not.*team\/signers/);
    await post(await sign(eve, "approve", "shop"));
    assert.deepEqual(await gateStates(project), ["approved"]);
    rmSync(dirname(eve.file), { recursive: true });
    remove();
  });

  it("is not made by an agent, nor without a key", both, async () => {
    const { project, remove } = await signing();
    const inside = await project.cli(["approve", "shop", "--sign"], { PRLOOM_RUN_ID: "x/1" });
    assert.match(inside.stderr, /agents cannot change plans/);
    const keyless = await project.cli(["approve", "shop", "--sign"]);
    assert.match(keyless.stderr, /git has no user\.signingkey/);
    remove();
  });
});

describe("a file of signers that does not parse", { concurrency: 2 }, () => {
  it("is refused by the start and told by the doctor, and lets no person in", both, async () => {
    const project = makeProject({ config: { gates: { plan: true, advisory: true, signers: SIGNERS } } });
    project.plan("shop", ["make one"]);
    const missing = await project.work();
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /gates\.signers names team\/signers, and main has no such file/);
    commitSigners(project, "# the team\nanna ssh-ed25519 nonsense\n");
    const broken = await project.work();
    assert.equal(broken.code, 1);
    assert.match(broken.stderr, /team\/signers on main \(gates\.signers\), line 2: its key is not one of the type/);
    const { stdout, code } = await project.cli(["doctor"]);
    assert.equal(code, 1);
    assert.match(stdout, /signers: team\/signers on main \(gates\.signers\), line 2/);
    project.remove();
  });

  it("is refused by a reload, and what was pinned stays", both, async () => {
    const { project, anna, sign, post, remove } = await signing();
    commitSigners(project, "nonsense\n");
    const { code, stderr } = await project.cli(["reload", "--yes"]);
    assert.equal(code, 1);
    assert.match(stderr, /team\/signers on main/);
    assert.equal((await sign(anna, "approve", "shop")).includes("SSH SIGNATURE"), true);
    commitSigners(project, `anna@example.com ${anna.line}\n`);
    await post(await sign(anna, "approve", "shop"));
    assert.deepEqual(await gateStates(project), ["approved"]);
    remove();
  });
});

describe("a change of the file of signers", { concurrency: 2 }, () => {
  it("is told at the gates: of the plan that names it, and of the change that has it", both, async () => {
    const { project, remove } = await signing({ pr: true });
    project.planFile("team", `## Title\n\nTeam\n\n## TODO\n\n- [ ] make one\n  paths: team/**\n`);
    await untilIdle(project);
    assert.match((await showPlan(project, "team")).thread.at(-1)?.body ?? "", /\*\*It changes `team\/signers`/);
    await succeeds(project, "approve", "shop");
    await untilIdle(project);
    const worktree = project.worktree("shop");
    writeFileSync(join(worktree, SIGNERS), "# changed\n");
    project.git("-C", worktree, "-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qam", "Change it");
    await untilIdle(project);
    assert.match(await lastPost(project), /^\*\*The change waits[\s\S]*\*\*It changes `team\/signers`/);
    remove();
  });
});
