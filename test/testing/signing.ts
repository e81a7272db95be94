import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Options of a test that needs ssh-keygen. */
export const needsKeygen =
  spawnSync("ssh-keygen", ["-?"], { stdio: "ignore" }).error === undefined
    ? {}
    : { skip: "ssh-keygen is not installed; Debian: apt install openssh-client" };

export interface TestKey {
  /** The private key's file. */
  readonly file: string;
  /** Type and key, as a line of signers has them. */
  readonly line: string;
}

/** A key of its own, without a passphrase. */
export function makeKey(): TestKey {
  const file = join(mkdtempSync(join(tmpdir(), "prloom-key-")), "key");
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", file]);
  chmodSync(file, 0o600);
  const [type, key] = readFileSync(`${file}.pub`, "utf8").split(" ");
  return { file, line: `${type} ${key}` };
}

/** What ssh-keygen itself says to a text. */
export function signWith({ file }: TestKey, text: string, namespace = "prloom-gate"): string {
  const args = ["-Y", "sign", "-q", "-n", namespace, "-f", file];
  return execFileSync("ssh-keygen", args, { input: text, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] });
}
