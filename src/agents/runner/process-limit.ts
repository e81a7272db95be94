import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants, existsSync, mkdirSync, readlinkSync, rmdirSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { errnoOf, unlessRefused } from "../../kernel/errors.ts";
import { readCheckedOut } from "../../kernel/files.ts";
import { MAX_FILE_BYTES } from "../../kernel/own-file.ts";
import { isAccessible } from "../../kernel/system/find-program.ts";
import type { ProcessIdentity } from "../../kernel/system/process-tree.ts";

/** How the number of a run's processes is limited: by the kernel's own count, or for root by a control group. */
export type ProcessLimit = { readonly kind: "count" } | { readonly kind: "group"; readonly path: string };

const PRLIMIT = "/usr/bin/prlimit";

/** Pure: the folder for control groups that count processes, from `/proc/self/mountinfo`; version 1 first. */
export function groupsFolder(mountinfo: string): { readonly path: string; readonly version: 1 | 2 } | undefined {
  const mounts = mountinfo.split("\n").map((line) => {
    const [mounted = "", source = ""] = line.split(" - ");
    const [type, , options = ""] = source.split(" ");
    return { path: mounted.split(" ")[4] ?? "", type, options: options.split(",") };
  });
  const first = mounts.find(({ type, options }) => type === "cgroup" && options.includes("pids"));
  if (first) return { path: first.path, version: 1 };
  const second = mounts.find(({ type }) => type === "cgroup2");
  return second && { path: second.path, version: 2 };
}

/** Pure: whether the kernel counts processes for each user namespace by itself, so that only the run's own count. */
export function countsPerNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(".").map((part) => Number.parseInt(part, 10));
  return major > 5 || (major === 5 && minor >= 14);
}

/** What limits the processes of runs on this machine; undefined: nothing does. */
export function processLimitHere(): "count" | { readonly folder: string } | undefined {
  if (process.platform !== "linux") return undefined;
  if (process.getuid?.() !== 0) return countsPerNamespace(release()) && existsSync(PRLIMIT) ? "count" : undefined;
  // The kernel does not count for root.
  const folder = groupsFolder(readCheckedOut("/proc/self/mountinfo", MAX_FILE_BYTES) ?? "");
  if (!folder || !isAccessible(folder.path, constants.W_OK)) return undefined;
  const controls = readCheckedOut(join(folder.path, "cgroup.subtree_control")) ?? "";
  return folder.version === 1 || controls.split(/\s+/).includes("pids") ? { folder: folder.path } : undefined;
}

/** How this run is to be limited; undefined: it cannot be. Makes nothing yet, so that it can be written down first. */
export function processLimit(init: ProcessIdentity): ProcessLimit | undefined {
  const here = processLimitHere();
  if (here === undefined) return undefined;
  if (here === "count") return hasOwnUsers(init.pid) ? { kind: "count" } : undefined;
  return { kind: "group", path: join(here.folder, `prloom-${init.pid}-${init.startTicks}`) };
}

/** A bwrap that is setuid makes no user namespace: everything of the user would be counted. */
function hasOwnUsers(pid: number): boolean {
  const own = unlessRefused(() => readlinkSync("/proc/self/ns/user"));
  const its = unlessRefused(() => readlinkSync(`/proc/${pid}/ns/user`));
  return own !== undefined && its !== undefined && its !== own;
}

/** Puts a limit on a process that has no children yet; they inherit it. What cannot be done is left: a run needs no limit. */
export async function limitProcesses(limit: ProcessLimit, pid: number, most: number): Promise<void> {
  if (limit.kind === "count") {
    const child = spawn(PRLIMIT, ["--pid", String(pid), `--nproc=${most}:${most}`], { stdio: "ignore" });
    await Promise.race([once(child, "exit"), once(child, "error")]);
    return;
  }
  try {
    mkdirSync(limit.path);
    writeFileSync(join(limit.path, "pids.max"), String(most));
    writeFileSync(join(limit.path, "cgroup.procs"), String(pid));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}

/** Removes a control group when nothing lives in it any more; the kernel needs a moment to notice. */
export async function removeGroup(path: string | undefined): Promise<void> {
  for (let looks = 0; path !== undefined && looks < 50; looks += 1) {
    try {
      rmdirSync(path);
      return;
    } catch (error) {
      if (errnoOf(error) !== "EBUSY") return;
      await sleep(5);
    }
  }
}
