import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { BASE_ARGS } from "../../../src/agents/sandbox/args.ts";
import { probeSandbox } from "../../../src/agents/sandbox/probe.ts";
import { ENOSYS, EPERM, FILTER_FD, filterFor, RULES } from "../../../src/agents/sandbox/seccomp.ts";

const ALLOWED = 0x7fff0000;
const KILLED = 0x80000000;
const refusedWith = (errno: number): number => 0x00050000 | errno;

const X64 = 0xc000003e;
const ARM64 = 0xc00000b7;
const I386 = 0x40000003;

interface Call {
  readonly arch: number;
  readonly number: number;
  readonly args?: readonly number[];
}

/** What the kernel makes of the program: the few instructions that it has. */
function judge(program: Uint8Array, { arch, number, args = [] }: Call): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(arch, 4);
  for (const [index, arg] of args.entries()) data.writeUInt32LE(arg, 16 + 8 * index);
  const code = Buffer.from(program);
  let loaded = 0;
  for (let at = 0; at < code.length / 8; at += 1) {
    const [operation, value] = [code.readUInt16LE(8 * at), code.readUInt32LE(8 * at + 4)];
    if (operation === 0x06) return value;
    if (operation === 0x20) loaded = data.readUInt32LE(value);
    else {
      const tests: Record<number, boolean> = {
        21: loaded === value,
        53: loaded >= value,
        69: (loaded & value) !== 0,
      };
      assert(operation in tests, `instruction ${operation}`);
      at += code[8 * at + (tests[operation] ? 2 : 3)]!;
    }
  }
  throw new Error("the program has no end");
}

const MACHINES = [
  ["x64", X64, 0],
  ["arm64", ARM64, 1],
] as const;

for (const [name, arch, column] of MACHINES) {
  const program = filterFor(name)!;
  const ask = (number: number, ...args: number[]): number => judge(program, { arch, number, args });

  test(`${name}: each call of the table is refused, if it asks for what is refused`, () => {
    for (const { call, numbers, error, when } of RULES) {
      const number = numbers[column];
      if (number === null) continue;
      const all = [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff];
      for (const condition of when) if ("values" in condition) all[condition.arg] = condition.values[0]!;
      assert.equal(ask(number, ...all), refusedWith(error), call);
      assert.equal(ask(number, 0, 0, 0, 0), when.length === 0 ? refusedWith(error) : ALLOWED, call);
    }
  });

  test(`${name}: other calls are not, and calls for other machines end the program`, () => {
    const known = new Set(RULES.map(({ numbers }) => numbers[column]));
    for (let number = 0; number < 470; number += 1) {
      if (!known.has(number)) assert.equal(ask(number), ALLOWED, String(number));
    }
    for (const other of [X64, ARM64, I386].filter((one) => one !== arch)) {
      assert.equal(judge(program, { arch: other, number: 1 }), KILLED);
    }
  });
}

test("a setuid file can be made in no way, and all other modes are fine", () => {
  const ask = (number: number, ...args: number[]): number => judge(filterFor("x64")!, { arch: X64, number, args });
  const [create, temporary] = [0o100, 0o20200000];
  const cases: readonly [what: string, answer: number, number: number, ...args: number[]][] = [
    ["chmod 4755", EPERM, 90, 0, 0o4755],
    ["chmod 2755", 0, 90, 0, 0o2755],
    ["chmod 755", 0, 90, 0, 0o755],
    ["fchmodat", EPERM, 268, 0, 0, 0o6755],
    ["fchmodat2", EPERM, 452, 0, 0, 0o4000],
    ["open to create", EPERM, 2, 0, create | 1, 0o4755],
    ["open to read, with anything as a mode", 0, 2, 0, 0, 0o4755],
    ["openat to create", EPERM, 257, 0, 0, create, 0o4755],
    ["openat without a name", EPERM, 257, 0, 0, temporary, 0o4755],
    ["openat to create 644", 0, 257, 0, 0, create, 0o644],
    ["creat", EPERM, 85, 0, 0o4700],
    ["mknod", EPERM, 133, 0, 0o104755],
    ["mknodat", EPERM, 259, 0, 0, 0o104755],
  ];
  for (const [what, errno, number, ...args] of cases) {
    assert.equal(ask(number, ...args), errno === 0 ? ALLOWED : refusedWith(errno), what);
  }
});

test("a lease can be had on no file and no folder, and all else of fcntl is fine", () => {
  for (const [name, arch, column] of MACHINES) {
    const number = RULES.find(({ call }) => call === "fcntl")!.numbers[column]!;
    const refused = Array.from({ length: 2048 }, (_, command) => command).filter(
      (command) => judge(filterFor(name)!, { arch, number, args: [3, command, 1] }) !== ALLOWED,
    );
    assert.deepEqual(refused, [1024, 1040], name);
  }
});

test("calls by another set of numbers of the same machine are not known", () => {
  const program = filterFor("x64")!;
  for (const number of [0x40000000 + 101, 0x40000000, 0xffffffff]) {
    assert.equal(judge(program, { arch: X64, number }), refusedWith(ENOSYS));
  }
});

test("no machine but those has a filter", () => {
  assert.deepEqual(["ia32", "riscv64", "ppc64"].map(filterFor), [undefined, undefined, undefined]);
});

const folder = mkdtempSync(join(tmpdir(), "prloom-seccomp-"));
after(() => rmSync(folder, { recursive: true }));

test("the kernel takes the program, and does what the table says", async (context) => {
  const probe = await probeSandbox();
  if (!probe.works || !probe.features.filters) return context.skip("there is no filter here");
  const column = process.arch === "x64" ? 0 : 1;
  const number = (call: string): number | null => RULES.find((rule) => rule.call === call)!.numbers[column];
  const file = join(folder, "file");
  writeFileSync(file, "");
  writeFileSync(join(folder, "filter"), filterFor(process.arch)!);
  // 0 for a process of its own: without the filter all of these either work or fail in another way.
  const calls = [
    ...["ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp"],
    ...["add_key", "request_key", "keyctl", "perf_event_open", "bpf", "userfaultfd", "io_uring_setup", "openat2"],
  ];
  const asked = calls.map((call) => `print "${call} ", syscall(${number(call)}, 0, 0, 0, 0, 0), " ", $! + 0, "\\n";`);
  const script = [
    ...asked,
    `print "chmod ", chmod(04755, "${file}"), " ", $! + 0, "\\n";`,
    `my $new = "${file}.new"; print "create ", syscall(${number("openat")}, -100, $new, 0101, 04755), " ", $! + 0, "\\n";`,
    `open(my $held, "<", "${file}"); print "lease ", syscall(${number("fcntl")}, fileno($held), 1024, 1), " ", $! + 0, "\\n";`,
    `print "plain ", chmod(0755, "${file}"), "\\n";`,
  ].join("");
  if (spawnSync("perl", ["-e", "1"]).status !== 0) return context.skip("perl is not installed");
  const args = [...BASE_ARGS, "--bind", folder, folder, "--seccomp", String(FILTER_FD), "--", "perl", "-e", script];
  const stdio = ["ignore", "pipe", "inherit", "ignore", "ignore", openSync(join(folder, "filter"), "r")] as const;
  const { stdout } = spawnSync("bwrap", args, { encoding: "utf8", stdio: [...stdio] });
  const hidden = ["io_uring_setup", "openat2"];
  assert.deepEqual(stdout.trim().split("\n"), [
    ...calls.map((call) => `${call} -1 ${hidden.includes(call) ? ENOSYS : EPERM}`),
    `chmod 0 ${EPERM}`,
    `create -1 ${EPERM}`,
    `lease -1 ${EPERM}`,
    "plain 1",
  ]);
  assert.equal(statSync(file).mode & 0o7777, 0o755);
});
