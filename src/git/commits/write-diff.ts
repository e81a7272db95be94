import { closeSync, fstatSync, readSync } from "node:fs";
import { openOwn } from "../../kernel/own-file.ts";
import { gitAt, type Repository } from "../repository.ts";
import { gitIn, type Worktree } from "../worktree/worktrees.ts";

export interface DiffOrder {
  /** Commits or trees. */
  readonly from: string;
  readonly to: string;
  readonly file: string;
}

const DIFF = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none", "-M"];

/** Writes how two commits or trees differ into a file: a change may be larger than memory. */
export async function writeDiff(worktree: Worktree, { from, to, file }: DiffOrder): Promise<void> {
  await gitIn(worktree, [...DIFF, `--output=${file}`, from, to, "--"]);
}

/**
 * The same for people who decide about it: attributes of the branch could say that a file is not to be shown, and none are
 * found where there is no working tree.
 */
export async function writeWholeDiff(repo: Repository, { from, to, file }: DiffOrder): Promise<void> {
  await gitAt(repo, [...DIFF, `--output=${file}`, from, to, "--"], { cwd: repo.commonDir });
}

export interface DiffBeginning {
  /** Whole lines only. */
  readonly text: string;
  readonly totalBytes: number;
  readonly isWhole: boolean;
}

/** The first lines of a file that may be of any size. */
export function readBeginning(file: string, mostBytes: number): DiffBeginning {
  const fd = openOwn(file);
  try {
    const totalBytes = fstatSync(fd).size;
    const buffer = Buffer.alloc(Math.min(totalBytes, mostBytes));
    const read = readSync(fd, buffer, 0, buffer.length, 0);
    const isWhole = read >= totalBytes;
    const text = buffer.subarray(0, read).toString("utf8");
    return { text: isWhole ? text : text.slice(0, text.lastIndexOf("\n") + 1), totalBytes, isWhole };
  } finally {
    closeSync(fd);
  }
}
