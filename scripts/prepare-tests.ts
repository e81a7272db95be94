/**
 * Before the tests: looks for what they need beyond Node and git, installs what it can, and says what it cannot. Tests
 * that need what is missing are skipped with the reason; the real agent programs are installed by their own tests.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const MINUTES = 60_000;

function works(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore", timeout: 10_000 }).status === 0;
}

const sandbox = (): boolean =>
  works("bwrap", ["--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--dev", "/dev", "true"]);

const keygen = (): boolean => spawnSync("ssh-keygen", ["-?"], { stdio: "ignore", timeout: 10_000 }).error === undefined;

function install(name: string): boolean {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return false;
  console.log(`${name} is missing; installing it with apt-get`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args: string[]): boolean =>
    spawnSync("apt-get", args, { stdio: "ignore", env, timeout: 3 * MINUTES }).status === 0;
  const args = ["install", "-y", "--no-install-recommends", name];
  return apt(...args) || (apt("update") && apt(...args));
}

if (!sandbox() && !(install("bubblewrap") && sandbox())) {
  console.log("bubblewrap does not work here: the tests of the sandbox are skipped. Debian: apt install bubblewrap");
}
if (!keygen() && !(install("openssh-client") && keygen())) {
  console.log("ssh-keygen is missing: the tests of signed answers are skipped. Debian: apt install openssh-client");
}
if (process.env.PRLOOM_FULL)
  for (const shell of ["zsh", "fish"])
    if (!works(shell, ["--version"]) && !(install(shell) && works(shell, ["--version"])))
      console.log(`${shell} is missing: the tests of its completion are skipped. Debian: apt install ${shell}`);
