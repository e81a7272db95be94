import type { Config } from "../../config/config.ts";
import type { Pin, PinnedFile } from "../../config/pin.ts";
import { MAX_SIGNERS, signersProblem } from "../../gate/signers.ts";
import { fileAt } from "../../git/file-at.ts";
import { defaultBaseBranch, type Repository, resolveCommit } from "../../git/repository.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { sha256 } from "../../kernel/ids.ts";

/**
 * The file of signers as the base branch has it: what is checked out may be any branch. One that cannot be used is an error, so that it is
 * not believed to count.
 */
export async function signersAt(repo: Repository, { gates, baseBranch }: Config): Promise<PinnedFile[]> {
  const { signers: path } = gates;
  if (path === undefined) return [];
  const base = baseBranch ?? (await defaultBaseBranch(repo));
  const commit = base === undefined ? undefined : await resolveCommit(repo, `refs/heads/${base}`);
  const found = commit && (await fileAt(repo, { commit, names: [path], mostBytes: MAX_SIGNERS }));
  if (!found) {
    const message = `gates.signers names ${path}, and ${base ?? "the base branch"} has no such file.`;
    throw new PrloomError(
      "config-invalid",
      message,
      `Commit it to ${base ?? "the base branch"}, or take gates.signers out of prloom/config.json.`,
    );
  }
  const problem = signersProblem(found.text);
  if (problem) {
    const where = problem.line === undefined ? "" : `, line ${problem.line}`;
    const hint = `Fix it on ${base}; \`man ssh-keygen\` describes it under ALLOWED SIGNERS. Until then no signature counts.`;
    throw new PrloomError("config-invalid", `${path} on ${base} (gates.signers)${where}: ${problem.why}.`, hint);
  }
  return [{ path, kind: "signers", sha256: sha256(found.text), text: found.text }];
}

/** The signers that were pinned. */
export function signersIn(pin: Pin | undefined): string | undefined {
  return pin?.files.find(({ kind }) => kind === "signers")?.text;
}
