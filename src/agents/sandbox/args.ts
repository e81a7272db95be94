import { dirname, sep } from "node:path";
import { FILTER_FD } from "./seccomp.ts";

/** One thing that is laid over the read-only view of the machine. Paths are absolute, without links. */
export type Mount =
  /** A new empty folder in memory. `sealed`: nothing can be written there, so that a program does not take it for the real one. */
  | { readonly kind: "empty"; readonly path: string; readonly sealed?: true }
  /** What lies at `from` (at `path` itself when absent), to be read or to be written. */
  | { readonly kind: "read"; readonly path: string; readonly from?: string }
  | { readonly kind: "write"; readonly path: string; readonly from?: string }
  | { readonly kind: "link"; readonly path: string; readonly to: string };

/**
 * Without capabilities a root agent cannot unmount what is laid over other things (without this it did). Environment is not
 * cleared here: the shim gives bwrap exactly the agent's. Whether it gets a session of its own, the shim and terminal.ts
 * say. The network is shared, and with it abstract sockets and what listens on loopback.
 */
const NAMESPACES = [
  ["--cap-drop", "ALL"],
  ["--unshare-pid"],
  ["--unshare-ipc"],
  ["--unshare-uts"],
  ["--unshare-cgroup-try"],
  ["--die-with-parent"],
].flat();

/** For runs without a sandbox: all in the new pid namespace dies with its first process, whatever it did to its session. */
export const NAMESPACE_ARGS = ["--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--die-with-parent"];

/**
 * What lies here speaks of the whole machine, and root may write it without any capability: with a line in
 * `/proc/sys/kernel/core_pattern` an agent had a program of its choice run outside. bwrap covers only some of them.
 */
const KERNEL_FILES = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr"].flatMap((name) => [
  "--ro-bind-try",
  `/proc/${name}`,
  `/proc/${name}`,
]);

/**
 * The machine as it is, to be read only, with devices and processes of its own. The namespace's init is not one of them:
 * it has the agent's user, and through `/proc/1/mem` an agent could have it do whatever it likes.
 */
export const BASE_ARGS: readonly string[] = [
  ...NAMESPACES,
  ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
  ...KERNEL_FILES,
  ...["--tmpfs", "/proc/1", "--remount-ro", "/proc/1"],
];

/** What this machine's bwrap can do beyond the rest; older ones and those that are setuid cannot. */
export interface BwrapFeatures {
  /** No further user namespaces inside: in one of its own an ordinary agent could mount a cgroup, and end what is in it. */
  readonly seals: boolean;
  /** Folders in memory have a size that they cannot exceed. */
  readonly sizes: boolean;
  /** System calls can be filtered: the kernel can, and the table knows this machine. */
  readonly filters: boolean;
}

/** Arguments that go before all others. */
export function sealArgs({ seals, filters }: BwrapFeatures): readonly string[] {
  return [
    ...(seals ? ["--unshare-user", "--disable-userns"] : []),
    ...(filters ? ["--seccomp", String(FILTER_FD)] : []),
  ];
}

/** Where programs put large files; all other folders in memory are only there to hide something. */
const SHARED_MEMORY = "/dev/shm";
const ROOMY = ["/tmp", "/var/tmp", SHARED_MEMORY];
const SMALL_BYTES = 64 * 1024 * 1024;

/** How large a folder in memory may grow; the kernel's own limit, for each half of all memory, is more than there is. */
function sizeArgs(path: string, memoryBytes: number): readonly string[] {
  const bytes = ROOMY.includes(path) ? Math.floor(memoryBytes / 4) : Math.min(SMALL_BYTES, memoryBytes);
  return ["--size", String(bytes)];
}

const RANK = { empty: 0, link: 1, read: 2, write: 3 } as const;

/** The mount that a path is seen through, itself not counted; undefined when it is the plain machine. */
export function mountAround(mounts: ReadonlyMap<string, Mount>, path: string): Mount | undefined {
  for (let folder = dirname(path); folder !== sep; folder = dirname(folder)) {
    const found = mounts.get(folder);
    if (found) return found;
  }
  return undefined;
}

/** What is to be read there can be read there anyway. */
function isVisible(around: Mount | undefined): boolean {
  return around === undefined || (around.kind === "read" && (around.from ?? around.path) === around.path);
}

/**
 * The mounts in the order in which they have to be made: a folder before what lies in it, since a mount hides everything
 * below it. Of several at one path the strongest is taken (a private home before the repository that is the home);
 * what can be seen anyway is left out.
 */
export function arrangeMounts(wanted: readonly Mount[]): Mount[] {
  const byPath = new Map<string, Mount>();
  for (const mount of wanted) {
    const other = byPath.get(mount.path);
    if (!other || RANK[mount.kind] >= RANK[other.kind]) byPath.set(mount.path, mount);
  }
  const depths = new Map([...byPath.keys()].map((path) => [path, path.split(sep).length]));
  const depth = ({ path }: Mount): number => depths.get(path) ?? 0;
  const ordered = [...byPath.values()].sort((a, b) => depth(a) - depth(b) || (a.path < b.path ? -1 : 1));
  const kept = new Map<string, Mount>();
  for (const mount of ordered) if (!isNeedless(mount, mountAround(kept, mount.path))) kept.set(mount.path, mount);
  return [...kept.values()];
}

function isNeedless(mount: Mount, around: Mount | undefined): boolean {
  if (mount.kind === "empty") return around?.kind === "empty";
  if (mount.kind === "read" && (mount.from ?? mount.path) !== mount.path) return false;
  return mount.kind !== "write" && isVisible(around);
}

function argsOf(mount: Mount, memoryBytes: number | undefined): string[] {
  switch (mount.kind) {
    case "empty":
      return [...(memoryBytes === undefined ? [] : sizeArgs(mount.path, memoryBytes)), "--tmpfs", mount.path];
    case "read":
      return ["--ro-bind", mount.from ?? mount.path, mount.path];
    case "write":
      return ["--bind", mount.from ?? mount.path, mount.path];
    case "link":
      return ["--symlink", mount.to, mount.path];
  }
}

/** What bwrap is started with; `mounts` are in order, `memoryBytes` is all that the machine has. */
export function sandboxArgs(mounts: readonly Mount[], features: BwrapFeatures, memoryBytes: number): string[] {
  // At the end: until then, mount points are made in them.
  const seals = mounts.flatMap((mount) =>
    mount.kind === "empty" && mount.sealed === true ? ["--remount-ro", mount.path] : [],
  );
  const size = features.sizes ? memoryBytes : undefined;
  // bwrap makes /dev without a limit: what is to be written there gets a folder that has one.
  const laid: Mount[] = [{ kind: "empty", path: SHARED_MEMORY }, ...mounts];
  const args = laid.flatMap((mount) => argsOf(mount, size));
  return [...sealArgs(features), ...BASE_ARGS, ...args, ...seals, "--remount-ro", "/dev"];
}
