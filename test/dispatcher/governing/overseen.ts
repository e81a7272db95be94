import assert from "node:assert/strict";
import { after } from "node:test";
import type { Permission, PermitRequest } from "../../../src/agents/port.ts";
import { RunOverseer } from "../../../src/dispatcher/governing/overseer.ts";
import type { Files } from "../../../src/governance/policy/paths.ts";
import { ProtectedFiles } from "../../../src/hosts/protected-files.ts";
import { governorOfRun } from "../../../src/hosts/run-governance.ts";
import { TouchedFiles } from "../../../src/hosts/touched-files.ts";
import { plainDisk } from "../../../src/hosts/worktree-disk.ts";
import { type GovernedFiles, type GovernedTerms, governedFiles } from "../../hosts/run.ts";

const made: GovernedFiles[] = [];
after(() => {
  for (const files of made.splice(0)) files.remove();
});

interface Overseen {
  readonly overseer: RunOverseer;
  readonly files: GovernedFiles;
  /** As Claude Code asks; the reason where it is denied. */
  asks(tool: string, input: object, more?: Partial<PermitRequest>): Promise<string>;
  /** A call that is allowed, and over; what the model then reads of it. */
  calls(tool: string, input: object, more?: Partial<PermitRequest>): Promise<string | undefined>;
}

let ids = 0;
export function nextId(): string {
  ids += 1;
  return `toolu_${ids}`;
}

interface Means {
  readonly seen?: Files;
  /** What the worktree's git prints when it is asked what changed. */
  readonly git?: () => Promise<readonly string[]>;
  /** What is waited for before anything is removed from the worktree. */
  readonly removes?: Promise<void>;
}

/** A run of Claude Code, asked about as the program would. */
export async function overseen(terms: GovernedTerms = {}, { seen, git, removes }: Means = {}): Promise<Overseen> {
  const files = governedFiles(terms);
  made.push(files);
  const phase = "implementing";
  const governor = await governorOfRun("claude", { ...files, phase, ...(seen ? { files: seen } : {}) });
  const touched = new TouchedFiles(files.root, git);
  const plain = plainDisk(files.root);
  const disk = { ...plain, remove: (path: Buffer) => Promise.resolve(removes).then(() => plain.remove(path)) };
  const overseer = new RunOverseer(governor, touched, new ProtectedFiles(governor.ownPolicy, disk));
  const permit = (tool: string, input: object, more: Partial<PermitRequest> = {}): Promise<Permission> =>
    overseer.permit({ tool, input, callId: nextId(), reads: false, question: "", ...more });
  return {
    overseer,
    files,
    async asks(tool, input, more) {
      const given = await permit(tool, input, more);
      return given.allow ? `allowed${given.note === undefined ? "" : `: ${given.note}`}` : given.reason;
    },
    async calls(tool, input, more) {
      const callId = more?.callId ?? nextId();
      assert.deepEqual(await permit(tool, input, { ...more, callId }), { allow: true });
      return (await overseer.tell({ kind: "ended", callId, ok: true })).text;
    },
  };
}

export const STATUS = ["mcp__prloom__govern_task", { action: "status" }] as const;
