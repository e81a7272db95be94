import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { errnoOf, unlessRefused } from "../errors.ts";

/** Names one process forever: a pid alone is given to another process sooner or later. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTicks: number;
  readonly bootId: string;
}

export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly startTicks: number;
}

interface Process extends ProcessInfo {
  readonly dead: boolean;
}

const PROC = "/proc";
const BOOT_ID = `${PROC}/sys/kernel/random/boot_id`;
const hasProc = existsSync(`${PROC}/self/stat`);

/** Fields of `stat` after the command name, which is in brackets and may itself hold spaces and brackets. */
function parseStat(pid: number, stat: string): Process | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group] = fields;
  const startTicks = Number(fields[19]);
  if (state === undefined || !Number.isFinite(startTicks)) return undefined;
  // A process whose first thread ended shows as a zombie while its other threads still run.
  const threads = Number(fields[17]);
  const dead = "ZXx".includes(state) && !(threads > 1);
  return { pid, parent: Number(parent), group: Number(group), startTicks, dead };
}

/** A file of /proc, or undefined when the process is gone or not ours to look at. */
function readProc(pid: number, name: string): string | undefined {
  return unlessRefused(() => readFileSync(`${PROC}/${pid}/${name}`, "latin1"));
}

function readProcess(pid: number): Process | undefined {
  const stat = readProc(pid, "stat");
  return stat === undefined ? undefined : parseStat(pid, stat);
}

/** One line of `ps -o pid=,ppid=,pgid=,stat=,lstart=`; seconds since the epoch stand in for the start ticks. */
function parsePsLine(line: string): Process | undefined {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S.*)$/.exec(line.trimEnd());
  if (!match) return undefined;
  const [pid, parent, group] = match.slice(1, 4).map(Number);
  const startTicks = Date.parse(match[5]!) / 1000;
  return { pid: pid!, parent: parent!, group: group!, startTicks, dead: match[4]!.startsWith("Z") };
}

/** The process table as `ps` tells it: for systems without /proc. */
export function processTableFromPs(): ProcessInfo[] {
  const ps = spawnSync("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
  });
  const rows = (ps.stdout ?? "").split("\n").map(parsePsLine);
  return rows.filter((row) => row !== undefined && !row.dead && row.pid !== ps.pid) as Process[];
}

/**
 * Every living process. The one place that knows about systems: where there is no /proc (macOS) the table comes from
 * `ps`, environments cannot be read, and so a run is found by its groups and their descendants only.
 */
function processTable(isWanted: (pid: number) => boolean = () => true): ProcessInfo[] {
  if (!hasProc) return processTableFromPs().filter(({ pid }) => isWanted(pid));
  const table: ProcessInfo[] = [];
  for (const name of readdirSync(PROC)) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || !isWanted(pid)) continue;
    const found = readProcess(pid);
    if (found && !found.dead) table.push(found);
  }
  return table;
}

let bootId: string | undefined;

/** Another one after each start of the machine; empty where that is not known. */
export function currentBootId(): string {
  bootId ??= hasProc ? readFileSync(BOOT_ID, "utf8").trim() : "";
  return bootId;
}

/** Who the living process with this pid is; undefined when there is none. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const found = hasProc ? readProcess(pid) : processTableFromPs().find((process) => process.pid === pid);
  if (!found || ("dead" in found && found.dead)) return undefined;
  return { pid, startTicks: found.startTicks, bootId: currentBootId() };
}

/** True while that very process lives: same pid, same start, same boot, and not a zombie. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.bootId !== currentBootId()) return false;
  return identityOf(identity.pid)?.startTicks === identity.startTicks;
}

/** True when the machine was not restarted since the identity was taken. */
export function isOfThisBoot(identity: ProcessIdentity): boolean {
  return identity.bootId === currentBootId();
}

function carries(pid: number, entry: string): boolean {
  const environment = readProc(pid, "environ");
  return environment !== undefined && `\0${environment}\0`.includes(`\0${entry}\0`);
}

/** Living processes that were started with exactly `entry` ("NAME=value") in their environment. */
export function processesWithVariable(entry: string): ProcessInfo[] {
  return processTable((pid) => carries(pid, entry));
}

/** The variable as the nearest process above this one was started with it, whatever was unset since. */
export function variableAbove(name: string): string | undefined {
  for (let pid = process.ppid; pid > 0; pid = readProcess(pid)?.parent ?? 0) {
    const entries = readProc(pid, "environ")?.split("\0") ?? [];
    const found = entries.find((entry) => entry.startsWith(`${name}=`));
    if (found !== undefined) return found.slice(name.length + 1);
  }
  return undefined;
}

export interface RunSearch {
  /** Neither found nor searched below: the one that asks. Its own pid is always left out. */
  readonly except?: readonly number[];
  /** The first process of the run's pid namespace: all that is in there descends from it, whatever it did to itself. */
  readonly init?: ProcessIdentity | undefined;
}

/**
 * What belongs to a run: processes that carry its id, that are in one of its groups, its init, or that descend from such a
 * process. Processes that cannot be looked at are left out.
 */
export function processesOfRun(runId: string, groups: readonly number[], search: RunSearch = {}): ProcessInfo[] {
  const left = new Set([process.pid, ...(search.except ?? [])]);
  const table = processTable().filter((candidate) => !left.has(candidate.pid));
  const entry = `PRLOOM_RUN_ID=${runId}`;
  const init = search.init && isAlive(search.init) ? search.init.pid : undefined;
  const found = new Map<number, ProcessInfo>();
  for (const candidate of table) {
    const { pid, group } = candidate;
    if (pid === init || groups.includes(group) || carries(pid, entry)) found.set(pid, candidate);
  }
  return [...found.values(), ...descendants(table, found)];
}

function descendants(table: readonly ProcessInfo[], roots: ReadonlyMap<number, ProcessInfo>): ProcessInfo[] {
  const children = Map.groupBy(table, (candidate) => candidate.parent);
  const known = new Set(roots.keys());
  const open = [...known];
  const below: ProcessInfo[] = [];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    for (const child of children.get(pid) ?? []) {
      if (known.has(child.pid)) continue;
      known.add(child.pid);
      below.push(child);
      open.push(child.pid);
    }
  }
  return below;
}

/** A living process and all that descends from it; nothing when it is gone, which costs no look at the others. */
export function processesUnder(root: ProcessIdentity): number[] {
  if (!isAlive(root)) return [];
  const found = new Map([[root.pid, { ...root, parent: 0, group: 0 }]]);
  return [root.pid, ...descendants(processTable(), found).map(({ pid }) => pid)];
}

/** Living direct children of a process. */
export function childrenOf(pid: number): ProcessInfo[] {
  return processTable().filter((candidate) => candidate.parent === pid);
}

function kill(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    const code = errnoOf(error);
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/** Sends a signal; a process that is gone or not ours is not an error. Never to init, a group, or ourselves. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  if (Number.isInteger(pid) && pid > 1 && pid !== process.pid) kill(pid, signal);
}

/** Ends a process group, which may be gone already; never our own. No group: there was no process to lead it. */
export function killGroup(group: number | undefined): void {
  if (group === undefined) return;
  const own = hasProc ? readProcess(process.pid)?.group : undefined;
  if (Number.isInteger(group) && group > 1 && group !== process.pid && group !== own) kill(-group, "SIGKILL");
}

export interface EndOptions {
  /** Between asking and killing; 0 kills at once. */
  readonly graceMs: number;
  /** Asked alone first, so that a program can end its own children in order. */
  readonly signalFirst?: readonly number[];
  /** Groups to kill as a whole: one call that no fork can outrun. Asked before each pass; must be ours at that moment. */
  readonly groups?: () => readonly number[];
  /** Ended like the others, but no part of the number that is told. */
  readonly uncounted?: readonly number[];
  /** How long killing may take before we say that it cannot be done (a process in the kernel's hands, or not ours). */
  readonly giveUpMs?: number;
}

/** Those that still live. */
function living(identities: readonly ProcessIdentity[]): number[] {
  if (hasProc) return identities.filter(isAlive).map(({ pid }) => pid);
  const starts = new Map(processTable().map(({ pid, startTicks }) => [pid, startTicks]));
  return identities.filter(({ pid, startTicks }) => starts.get(pid) === startTicks).map(({ pid }) => pid);
}

/**
 * Ends what `find` returns, and what it returns then, until it returns nothing and all that it ever returned is gone: TERM,
 * after the grace KILL. Resolves with the number of processes seen; rejects, naming them, when some cannot be ended.
 */
export async function endProcesses(find: () => readonly number[], options: EndOptions): Promise<number> {
  // Kept by identity: one that is dying has lost its environment, and is not found any more, while it still lives.
  const seen = new Map<number, ProcessIdentity | undefined>();
  const look = (): number[] => {
    const found = find().filter((pid) => pid > 1 && pid !== process.pid);
    for (const pid of found) seen.set(pid, identityOf(pid));
    const known = [...seen.values()].filter((who) => who !== undefined);
    return [...new Set([...found, ...living(known)])];
  };
  const uncounted = new Set(options.uncounted ?? []);
  if (look().length > 0 && options.graceMs > 0) await askToEnd(look, options);
  const giveUp = performance.now() + (options.giveUpMs ?? 30_000);
  let empty = 0;
  for (let pause = 1; ; pause = Math.min(pause * 2, 100)) {
    const pids = look();
    // One look can miss a process that forks and exits while the table is being read; the groups cannot be missed.
    empty = pids.length === 0 ? empty + 1 : 0;
    if (empty === 2) return [...seen.keys()].filter((pid) => !uncounted.has(pid)).length;
    if (performance.now() > giveUp) throw new Error(`These processes could not be ended: ${pids.join(", ")}.`);
    // Stopped first, so that a program that forks faster than we kill stands still while we go through the list.
    for (const pid of pids) signalProcess(pid, "SIGSTOP");
    for (const pid of pids) signalProcess(pid, "SIGKILL");
    for (const group of options.groups?.() ?? []) killGroup(group);
    await sleep(pause);
  }
}

export interface RunProcesses {
  readonly id: string;
  /** Must be the run's when it is called. */
  readonly groups: readonly number[];
  /**
   * With it the end is certain: the kernel kills all that is in a pid namespace with its init, and lets the init end only
   * after the last of them.
   */
  readonly init?: ProcessIdentity | undefined;
}

/** Ends everything of a run, as `processesOfRun` finds it. */
export async function endRun(run: RunProcesses, options: EndOptions): Promise<number> {
  const leaders = new Map(run.groups.map((group) => [group, identityOf(group)?.startTicks]));
  // A pid is given away again only when its group is empty: a leader that was not there before is a stranger.
  const groups = (): number[] =>
    run.groups.filter((group) => {
      const leader = identityOf(group);
      return leader === undefined || leader.startTicks === leaders.get(group);
    });
  const find = (): number[] => processesOfRun(run.id, groups(), { init: run.init }).map(({ pid }) => pid);
  return await endProcesses(find, { ...options, groups });
}

async function askToEnd(look: () => number[], options: EndOptions): Promise<void> {
  const deadline = performance.now() + options.graceMs;
  const asked = new Set<number>();
  const first = options.signalFirst ?? [];
  for (let pause = 1; performance.now() < deadline; pause = Math.min(pause * 2, 50)) {
    const pids = look();
    if (pids.length === 0) return;
    const leaders = pids.filter((pid) => first.includes(pid));
    for (const pid of leaders.length > 0 ? leaders : pids) {
      if (asked.has(pid)) continue;
      asked.add(pid);
      signalProcess(pid, "SIGTERM");
    }
    await sleep(pause);
  }
}
