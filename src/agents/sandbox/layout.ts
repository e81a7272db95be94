import { join, relative, sep } from "node:path";
import { arrangeMounts, type Mount } from "./args.ts";

/**
 * Where a run sees what prloom gives it to read. Each is a mount of its own in a folder that is one, too: a folder around
 * them could be renamed by an agent, and another one put in its place.
 */
export const OURS_AT = { folder: "/run/prloom", program: "/run/prloom-program", node: "/run/prloom-node" } as const;

/** Everything that decides how a run sees the machine. Paths are absolute, without links, and exist. */
export interface SandboxPlan {
  /** Where the home is seen, and the folder that is kept for this plan, agent and stage. */
  readonly home: { readonly path: string; readonly from: string };
  /** Seen at `.cache` of the home; kept for the repository. */
  readonly cache: string;
  /** Folders where sockets, temporary files and settings of the user lie. */
  readonly hidden: readonly string[];
  /** Folders of prloom in the working tree: hidden, and not writable either. */
  readonly sealed: readonly string[];
  /** Files that are seen as empty ones. */
  readonly secret: readonly string[];
  readonly repository: {
    readonly root: string;
    readonly commonDir: string;
    readonly objects: string;
    readonly objectsAt: string;
    /** Folders that objects are borrowed from beside the repository's own. */
    readonly alternates: readonly string[];
    readonly hasAlternates: boolean;
    readonly shadow: string;
    readonly emptyFile: string;
    /** Repositories of the worktree's submodules, where it has some. */
    readonly modules?: string;
  };
  /** Where the worktree is seen, what lies there, and the file that is its `.git`. */
  readonly worktree: {
    readonly path: string;
    readonly from: string;
    readonly gitFile: string;
    readonly readOnly?: true;
  };
  /** The run's own folder. */
  readonly agentDir: string;
  /** Where links of the worktree lead, to records that are hidden: a device without content, since tools stop at a link that leads nowhere. */
  readonly blank: readonly string[];
  /** Folders and files of the worktree that are seen as empty ones. */
  readonly masked: readonly { readonly path: string; readonly isFolder: boolean }[];
  /** What is to be read though it lies in a folder that is hidden. */
  readonly places: readonly Mount[];
  /**
   * Copies of the user's folders with configuration: where they lie, and where the program looks for them. To be written:
   * OpenCode does not start where it cannot put a file there.
   */
  readonly configuration: readonly { readonly from: string; readonly path: string }[];
  /** A folder of ours, a file or folder with a program of ours, and the Node that runs it: to be read, at `OURS_AT`. */
  readonly ours?: { readonly folder: string; readonly program?: string; readonly node?: string };
}

/** Pure: all mounts of a run, in order. */
export function layoutSandbox(plan: SandboxPlan): Mount[] {
  const { home, repository, worktree } = plan;
  const { commonDir, objectsAt, emptyFile } = repository;
  const read = (path: string, from = path): Mount => ({ kind: "read", path, from });
  const write = (path: string, from = path): Mount => ({ kind: "write", path, from });
  return arrangeMounts([
    ...plan.hidden.map((path): Mount => ({ kind: "empty", path })),
    ...plan.places,
    read(repository.root),
    ...repository.alternates.map((path) => read(path)),
    ...plan.secret.map((path) => read(path, emptyFile)),
    ...plan.sealed.map((path): Mount => ({ kind: "empty", path, sealed: true })),
    write(home.path, home.from),
    write(join(home.path, ".cache"), plan.cache),
    ...plan.configuration.map(({ path, from }) => write(path, from)),
    write(commonDir, repository.shadow),
    read(objectsAt, repository.objects),
    // Its own alternates are in the shadow already; relative ones would be looked for in the wrong place.
    ...(repository.hasAlternates ? [read(join(objectsAt, "info", "alternates"), emptyFile)] : []),
    ...(repository.modules === undefined ? [] : [read(repository.modules)]),
    (worktree.readOnly ? read : write)(worktree.path, worktree.from),
    read(join(worktree.path, ".git"), worktree.gitFile),
    ...plan.masked.map(
      ({ path, isFolder }): Mount => (isFolder ? { kind: "empty", path, sealed: true } : read(path, emptyFile)),
    ),
    ...agentFolder(plan),
    ...plan.blank.map((path): Mount => ({ kind: "link", path, to: "/dev/null" })),
    ...oursIn(plan),
  ]);
}

/** Made in memory on the way to it: below the shadow each folder would be one to make and to remove on the disk, for every run. */
function agentFolder({ agentDir, repository: { commonDir } }: SandboxPlan): Mount[] {
  const [top = "", ...rest] = relative(commonDir, agentDir).split(sep);
  const around: Mount[] = top === ".." || rest.length === 0 ? [] : [{ kind: "empty", path: join(commonDir, top) }];
  return [...around, { kind: "write", path: agentDir, from: agentDir }];
}

function oursIn({ ours }: SandboxPlan): Mount[] {
  if (ours === undefined) return [];
  const shown = (["folder", "program", "node"] as const).flatMap((name): Mount[] => {
    const from = ours[name];
    return from === undefined ? [] : [{ kind: "read", path: OURS_AT[name], from }];
  });
  return [{ kind: "empty", path: "/run" }, ...shown];
}
