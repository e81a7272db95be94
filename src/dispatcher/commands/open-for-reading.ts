import { checkedPin, pinOf } from "../../config/pin.ts";
import { branchTip, currentBranch, openRepository, type Repository, resolveCommit } from "../../git/repository.ts";
import { isoTime, systemClock } from "../../kernel/clock.ts";
import { systemIds } from "../../kernel/ids.ts";
import type { Progress } from "../capabilities.ts";
import { openLoom } from "../compose.ts";
import type { Loom } from "../loom.ts";
import { pathsOf } from "../paths.ts";
import { type Settings, settingsInForce } from "../settings/pinned.ts";
import { capture } from "../settings/pinning.ts";
import { signersAt } from "../settings/signers.ts";

export interface OpenLoomOptions {
  readonly cwd: string;
  /** What `cwd` leads to, where that is known. */
  readonly repo?: Repository | undefined;
  /**
   * `start`: a person starts the dispatcher, so the working tree counts. `in-force`: what counts now. `if-there`: the same,
   * and the repository is opened even if the config is broken or missing.
   */
  readonly settings?: "start" | "in-force" | "if-there";
  readonly onProgress?: (progress: Progress) => void;
}

export async function settingsFor(repo: Repository, wanted: OpenLoomOptions["settings"]): Promise<Settings> {
  if (wanted === "start") {
    const { config, files: captured } = capture({ root: repo.root, path: process.env.PATH });
    const files = [...captured, ...(await signersAt(repo, config))];
    const branch = await currentBranch(repo);
    const commit = await (branch === undefined ? resolveCommit(repo, "HEAD") : branchTip(repo, branch));
    const origin = { pinnedAt: isoTime(systemClock.now()), by: "start", branch, commit } as const;
    return { config, pin: pinOf(files, { ...origin, checked: checkedPin(files, config) }) };
  }
  const settings = settingsInForce(pathsOf(repo).pinFile, repo.root);
  if (settings.problem && wanted !== "if-there") throw settings.problem;
  return settings;
}

/** Opens the repository for reading: no lock, nothing is written, and a config is not needed. */
export async function openForReading(options: OpenLoomOptions): Promise<Loom> {
  const repo = options.repo ?? (await openRepository(options.cwd));
  const settings = await settingsFor(repo, options.settings ?? "if-there");
  const paths = pathsOf(repo, settings.config.worktreesDir);
  return openLoom({
    repo,
    paths,
    settings,
    clock: systemClock,
    ids: systemIds,
    identity: {},
    environment: process.env,
    readOnly: true,
  });
}
