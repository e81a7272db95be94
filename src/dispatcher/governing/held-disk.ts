import { splitNul } from "../../git/output.ts";
import { gitIn, type Worktree } from "../../git/worktree/worktrees.ts";
import type { WorktreeDisk } from "../../hosts/worktree-disk.ts";
import { ensureLinkIn, listInside, placeFile, readInside, unlockFolder } from "../../kernel/held/files.ts";
import { removeFrom } from "../../kernel/removal/remove-held.ts";

const MAX_BYTES = 1024 ** 2;
const ALL_FILES = ["--no-optional-locks", "ls-files", "-z", "--cached", "--others", "--exclude-standard"];

/** A worktree in which an agent is at work, touched with our rights: through held folders, and never through a link. */
export function heldDisk(worktree: Worktree): WorktreeDisk {
  const root = worktree.path;
  return {
    files: async () => splitNul((await gitIn(worktree, ALL_FILES)).stdout),
    list: async (folder, most) => listInside(root, folder, most).map((name) => name.toString("latin1")),
    read: async (path) => readInside(root, path, MAX_BYTES),
    unlock: async (folder) => unlockFolder(root, folder),
    remove: async (path) => removeFrom(root, path),
    write: async (path, bytes, mode) => placeFile(root, path, bytes, mode),
    link: async (path, to) => ensureLinkIn(root, path, to),
  };
}
