/**
 * The filter of system calls that agents run under: a table, and the assembler that makes the kernel's program of it
 * (classic BPF, see seccomp(2)). It closes what namespaces leave open: the memory of other processes, setuid files, and leases.
 */

/** Which file bwrap finds the program as. */
export const FILTER_FD = 5;

export const EPERM = 1;
/** For calls whose callers know another way: they ask whether the kernel has them. */
export const ENOSYS = 38;

/** Of a call on x86_64 and on aarch64; null: there is no such call. */
type Numbers = readonly [x64: number | null, arm64: number | null];

export interface Rule {
  readonly call: string;
  readonly numbers: Numbers;
  readonly error: number;
  /** Refused only when each of these arguments has one of the bits, or is one of the values. */
  readonly when: readonly Condition[];
}

type Condition =
  | { readonly arg: number; readonly bits: number }
  | { readonly arg: number; readonly values: readonly number[] };

const SETUID = 0o4000;
/** O_CREAT and O_TMPFILE: without them the mode is not looked at, and may be anything. */
const CREATING = 0o100 | 0o20000000;

const F_SETLEASE = 1024;
/** The same for folders, of newer kernels. */
const F_SETDELEG = 1040;

const refuse = (call: string, ...numbers: Numbers): Rule => ({ call, numbers, error: EPERM, when: [] });
const hide = (call: string, ...numbers: Numbers): Rule => ({ call, numbers, error: ENOSYS, when: [] });
const refuseSetuid = (call: string, numbers: Numbers, args: { mode: number; flags?: number }): Rule => {
  const creates = args.flags === undefined ? [] : [{ arg: args.flags, bits: CREATING }];
  return { call, numbers, error: EPERM, when: [...creates, { arg: args.mode, bits: SETUID }] };
};

/** Each call once. */
export const RULES: readonly Rule[] = [
  // Into other processes, the first one of the namespace included.
  refuse("ptrace", 101, 117),
  refuse("process_vm_readv", 310, 270),
  refuse("process_vm_writev", 311, 271),
  refuse("process_madvise", 440, 440),
  refuse("pidfd_getfd", 438, 438),
  refuse("kcmp", 312, 272),
  // Parts of the kernel that builds do not need, and that were ways into it.
  refuse("perf_event_open", 298, 241),
  refuse("bpf", 321, 280),
  refuse("userfaultfd", 323, 282),
  // The keyring of the user's session is shared with everything outside.
  refuse("add_key", 248, 217),
  refuse("request_key", 249, 218),
  refuse("keyctl", 250, 219),
  // With a lease on a file that it may only read, an agent keeps everybody who opens it waiting, for 45 s each time: git, and us.
  { call: "fcntl", numbers: [72, 25], error: EPERM, when: [{ arg: 1, values: [F_SETLEASE, F_SETDELEG] }] },
  // No filter sees what is asked for through it.
  hide("io_uring_setup", 425, 425),
  // Files that give every user who starts them the rights of the user that the agent runs as.
  refuseSetuid("chmod", [90, null], { mode: 1 }),
  refuseSetuid("fchmod", [91, 52], { mode: 1 }),
  refuseSetuid("fchmodat", [268, 53], { mode: 2 }),
  refuseSetuid("fchmodat2", [452, 452], { mode: 2 }),
  refuseSetuid("open", [2, null], { flags: 1, mode: 2 }),
  refuseSetuid("openat", [257, 56], { flags: 2, mode: 3 }),
  refuseSetuid("creat", [85, null], { mode: 1 }),
  refuseSetuid("mknod", [133, null], { mode: 1 }),
  refuseSetuid("mknodat", [259, 33], { mode: 2 }),
  // Its mode lies in memory, where no filter can look.
  hide("openat2", 437, 437),
];

/** What the filter knows of, by Node's name. `x32`: numbers from here on are another set of the same calls. */
const MACHINES: Readonly<Record<string, { readonly audit: number; readonly column: 0 | 1; readonly x32?: number }>> = {
  x64: { audit: 0xc000003e, column: 0, x32: 0x40000000 },
  arm64: { audit: 0xc00000b7, column: 1 },
};

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, value: number];

const LOAD = 0x20;
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const errorOf = (errno: number): number => 0x00050000 | errno;

/** Where the kernel puts them: the number, the architecture, and the lower half of each argument, which holds all flags. */
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const argAt = (arg: number): number => 16 + 8 * arg;

/** Goes on behind itself when the condition is met, else so many instructions further. */
function testCode(condition: Condition, toAllowed: number): Instruction[] {
  const load: Instruction = [LOAD, 0, 0, argAt(condition.arg)];
  if ("bits" in condition) return [load, [ANY_BIT, 0, toAllowed, condition.bits]];
  const last = condition.values.length - 1;
  return [
    load,
    ...condition.values.map((value, at): Instruction => [EQUAL, last - at, at === last ? toAllowed : 0, value]),
  ];
}

/** Ends in an answer when it is this call; else goes on behind itself, with the number still loaded. */
function ruleCode({ error, when }: Rule, number: number): Instruction[] {
  let tests: Instruction[] = [];
  for (const condition of when.toReversed()) tests = [...testCode(condition, tests.length + 1), ...tests];
  const allowed: Instruction[] = when.length === 0 ? [] : [[RETURN, 0, 0, ALLOW]];
  const body: Instruction[] = [...tests, [RETURN, 0, 0, errorOf(error)], ...allowed];
  return [[EQUAL, 0, body.length, number], ...body];
}

/** The program for a machine, by Node's name of its architecture; undefined where that is not known. */
export function filterFor(arch: string): Uint8Array | undefined {
  const machine = MACHINES[arch];
  if (!machine) return undefined;
  const { audit, column, x32 } = machine;
  const rules = RULES.flatMap((rule) => {
    const number = rule.numbers[column];
    return number === null ? [] : ruleCode(rule, number);
  });
  const foreign: Instruction[] =
    x32 === undefined
      ? []
      : [
          [AT_LEAST, 0, 1, x32],
          [RETURN, 0, 0, errorOf(ENOSYS)],
        ];
  const code: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE_AT],
    [EQUAL, 1, 0, audit],
    // A program for another machine, or calls of one: they have other numbers.
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER_AT],
    ...foreign,
    ...rules,
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(8 * code.length);
  for (const [index, [operation, jumpTrue, jumpFalse, value]] of code.entries()) {
    bytes.writeUInt16LE(operation, 8 * index);
    bytes.writeUInt8(jumpTrue, 8 * index + 2);
    bytes.writeUInt8(jumpFalse, 8 * index + 3);
    bytes.writeUInt32LE(value, 8 * index + 4);
  }
  return bytes;
}
