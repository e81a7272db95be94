import { rmSync } from "node:fs";
import { join } from "node:path";
import type { PlanConfig } from "../../../config/presets.ts";
import { approvedHead, type GateRecord } from "../../../gate/gate-record.ts";
import type { ShowingChange, ShownDiff } from "../../../gate/shown-change.ts";
import { changePost } from "../../../gate/shown-change.ts";
import { commitsBetween, diffStat, whereLeft } from "../../../git/commits/history.ts";
import { readBeginning, writeWholeDiff } from "../../../git/commits/write-diff.ts";
import { gitAt, resolveCommit } from "../../../git/repository.ts";
import type { PlanRecord } from "../../../plan/record.ts";
import type { Extended } from "../../buses/extensions.ts";
import type { Naming } from "../../capabilities.ts";
import { requireEnforced } from "../../gates/enforced.ts";
import type { Gated } from "../../gates/gate-store.ts";
import { putNewGate } from "../../gates/new-gate.ts";
import { gateOf, gatesOf } from "../../gates/plan-gate.ts";
import { isToAwaitChange, postedAs, replacedFor } from "../../gates/posting.ts";
import { prDoorAt, whatChangeSays } from "../../gates/pr-gate.ts";
import { homeOf, type Located } from "../../paths.ts";
import { planText, type Records } from "../../records.ts";
import type { Configured } from "../../settings/pinned.ts";
import { planConfig } from "../../settings/plan-config.ts";

type Asking = Located & Naming & Configured & Records & Gated & Extended;

/** Whether the change may be marked ready as it is at this moment; asks a person if none was asked about it. */
export async function passesPrGate(loom: Asking, record: PlanRecord): Promise<boolean> {
  const config = planConfig(loom, record);
  if (!config.ok) return false;
  if (!config.config.prGated) return true;
  const head = await resolveCommit(loom.repo, `refs/heads/${record.branch}`);
  const door = prDoorAt(loom, record, { text: planText(loom, record), config: config.config, head });
  if (door.kind === "due" && head !== undefined) await openPrGate(loom, record, { config: config.config, head });
  return door.kind === "open";
}

async function openPrGate(
  loom: Asking,
  record: PlanRecord,
  { config, head }: { config: PlanConfig; head: string },
): Promise<void> {
  await requireEnforced(loom.config, Object.fromEntries(config.agents.worker.map((agent) => [agent.name, agent])));
  const ownLogin = await postedAs(loom, record, head);
  const text = planText(loom, record);
  if (!text) return;
  const before = gateOf(loom, record, "pr");
  const says = whatChangeSays(record, text, head);
  const change = await changeOf(loom, record, head);
  const since = before && {
    gateId: before.gateId,
    text: before.text,
    diff: await diffSince(loom, record, before, head),
  };
  putNewGate(loom, record, {
    ...{ kind: "pr", before, ...says, text: text.text, head },
    ...(isToAwaitChange(loom, record, head) ? { awaits: "change-request" } : {}),
    shown: (gateId) =>
      changePost({
        ...{ planId: record.id, gateId, digest: says.digest, text: text.text, head, ...change, since },
        isFirst: gatesOf(loom, record).length === 0,
        isAdvisory: loom.config.gates.advisory,
        again: replacedFor(before),
        isSignable: loom.config.gates.signers !== undefined,
        ownLogin,
      }),
  });
}

async function changeOf(
  loom: Located & Configured,
  record: PlanRecord,
  head: string,
): Promise<Pick<ShowingChange, "commits" | "files" | "diff" | "signers">> {
  const base = await whereLeft(loom.repo, { base: record.baseBranch ?? "", began: record.baseSha ?? "", head });
  const commits = await commitsBetween(loom.repo, base, head);
  const { files } = await diffStat(loom.repo, base, head);
  return {
    commits: commits.map(({ sha, subject }) => `${sha.slice(0, 8)} ${subject}`),
    files: files.map(({ path, added, removed }) => `${path} +${added} -${removed}`),
    diff: await diffBetween(loom, record, base, head),
    ...(await changedSigners(loom, base, head)),
  };
}

async function changedSigners(
  { repo, config }: Located & Configured,
  base: string,
  head: string,
): Promise<Pick<ShowingChange, "signers">> {
  const { signers } = config.gates;
  if (signers === undefined) return {};
  const args = ["diff", "--quiet", "--no-ext-diff", "--no-renames", base, head, "--", `:(top,literal)${signers}`];
  return (await gitAt(repo, args, { allowExit: [1] })).code === 1 ? { signers } : {};
}

async function diffSince(
  loom: Located,
  record: PlanRecord,
  before: GateRecord,
  head: string,
): Promise<ShownDiff | undefined> {
  const known = approvedHead(before);
  const shown = known === undefined ? undefined : await resolveCommit(loom.repo, known);
  return shown === undefined ? undefined : diffBetween(loom, record, shown, head);
}

/** What a person reads in one go, and what a tracker takes. */
const MAX_DIFF = 60_000;

async function diffBetween(loom: Located, { id }: PlanRecord, from: string, to: string): Promise<ShownDiff> {
  const file = join(homeOf(loom.paths, id).home, "shown.diff");
  try {
    await writeWholeDiff(loom.repo, { from, to, file });
    const { text, totalBytes, isWhole } = readBeginning(file, MAX_DIFF);
    const command = `git diff ${from.slice(0, 12)} ${to.slice(0, 12)}`;
    return { ...(isWhole ? { text } : {}), totalBytes, command };
  } finally {
    rmSync(file, { force: true });
  }
}
