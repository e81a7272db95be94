import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { ADAPTERS } from "../../config/agent-words.ts";
import { errnoOf, PrloomError } from "../../kernel/errors.ts";
import { ensureDir, writeFileAtomic, writeRunFile } from "../../kernel/files.ts";
import { readInside } from "../../kernel/held/files.ts";
import { sha256 } from "../../kernel/ids.ts";
import { readChecked } from "../../kernel/json-files.ts";
import { MAX_LOGIN_BYTES } from "./login-renewal.ts";
import { besideOf, type CopiedLogin } from "./private-home.ts";

/** What a program's own rule makes of a login before and after a run. */
export type Renewal = (before: string, after: string) => string | undefined;

const keptSchema = z.object({
  agent: z.object({
    adapter: z.enum(ADAPTERS),
    command: z.string(),
    args: z.array(z.string()).exactOptional(),
  }),
  logins: z.array(z.object({ from: z.string(), to: z.string(), hash: z.string() })),
});
type Kept = z.infer<typeof keptSchema>;

/** By which the program, and so its rule, is found again, by whichever process. */
export interface ProgramSpec {
  readonly adapter: Kept["agent"]["adapter"];
  readonly command: string;
  readonly args?: readonly string[];
}

const FILE = "logins.json";

/** Writes down which logins a private home has copies of: beside it, where no agent can change that. */
export function keepLogins(home: string, spec: ProgramSpec, logins: readonly CopiedLogin[]): void {
  const { adapter, command, args } = spec;
  const file = join(besideOf(home), FILE);
  if (logins.length === 0) {
    rmSync(file, { force: true });
    return;
  }
  ensureDir(besideOf(home));
  const kept: Kept = { agent: { adapter, command, ...(args ? { args: [...args] } : {}) }, logins: [...logins] };
  writeRunFile(file, `${JSON.stringify(kept)}\n`, 0o600);
}

function keptLogins(home: string): Kept | undefined {
  return readChecked(join(besideOf(home), FILE), keptSchema);
}

/**
 * Takes back what the program renewed of the user's logins in its private home. Only as far as the program's rule allows, and
 * only where the user's file still is what was copied: of two that renewed it at once, the second is dropped. Done twice
 * it changes nothing more.
 */
export function returnLogins(home: string, renewalOf: (spec: ProgramSpec) => Renewal | undefined): void {
  const kept = keptLogins(home);
  const renewal = kept && renewalOf(kept.agent);
  if (!kept || !renewal) return;
  const logins = kept.logins.map((login) => returnLogin(home, login, renewal));
  if (logins.some((login, i) => login !== kept.logins[i])) keepLogins(home, kept.agent, logins);
}

function returnLogin(home: string, login: CopiedLogin, renewal: Renewal): CopiedLogin {
  try {
    const stat = statSync(login.from);
    const before = readFileSync(login.from, "utf8");
    // A new file would be ours; another user's login must stay theirs.
    if (sha256(before) !== login.hash || stat.uid !== process.getuid?.()) return login;
    const after = readInside(home, login.to, MAX_LOGIN_BYTES)?.toString("utf8");
    const renewed = after === undefined ? undefined : renewal(before, after);
    if (renewed === undefined || renewed === before) return login;
    writeFileAtomic(login.from, renewed, stat.mode & 0o777);
    return { ...login, hash: sha256(renewed) };
  } catch (error) {
    // The user's file is gone, or cannot be written: it stays what it is, and no run may fail for that.
    if (errnoOf(error) === undefined && !(error instanceof PrloomError)) throw error;
    return login;
  }
}
