import { readCheckedOut } from "../../kernel/files.ts";
import type { Environment } from "../../kernel/system/environment.ts";
import { findProgram, trustedPath } from "../../kernel/system/find-program.ts";
import { BASE_ARGS, type BwrapFeatures, sealArgs } from "./args.ts";
import { filterFor } from "./seccomp.ts";
import { type TriedBwrap, tryBwrap } from "./try-bwrap.ts";

export type SandboxProbe =
  | { readonly works: true; readonly features: BwrapFeatures }
  | { readonly works: false; readonly why: string; readonly remedy: string };

/** What a try gave, and what the machine says about itself. */
export interface ProbeFacts extends TriedBwrap {
  readonly platform: string;
  readonly features: BwrapFeatures;
  /** Values of kernel settings, by name; absent where the kernel has no such setting. */
  readonly settings: Environment;
}

const INSTALL = "`apt install bubblewrap` (or `dnf install bubblewrap`, `pacman -S bubblewrap`)";

/** Settings that forbid user namespaces to ordinary users, the value that does, and what to type. */
const FORBIDDING = [
  {
    setting: "kernel.unprivileged_userns_clone",
    value: "0",
    remedy: "`sudo sysctl -w kernel.unprivileged_userns_clone=1`",
  },
  { setting: "user.max_user_namespaces", value: "0", remedy: "`sudo sysctl -w user.max_user_namespaces=15000`" },
  {
    setting: "kernel.apparmor_restrict_unprivileged_userns",
    value: "1",
    remedy:
      "allow it for bwrap with an AppArmor profile (docs/sandbox.md has one), or for all programs with `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`",
  },
] as const;

/** Pure: what is wrong, and what to type about it. */
export function judgeProbe(facts: ProbeFacts): SandboxProbe {
  if (facts.outcome === "ok") return { works: true, features: facts.features };
  if (facts.platform !== "linux") {
    return {
      works: false,
      why: "the sandbox needs bubblewrap, which exists for Linux alone",
      remedy: 'set `"sandbox": "none"` for the agents in prloom/config.json, or run prloom in a Linux virtual machine',
    };
  }
  if (facts.outcome === "missing") return { works: false, why: "bubblewrap (bwrap) is not installed", remedy: INSTALL };
  const culprit = FORBIDDING.find(({ setting, value }) => facts.settings[setting]?.trim() === value);
  if (culprit) {
    const why = `the kernel does not let ordinary users make namespaces (${culprit.setting} is ${culprit.value})`;
    return { works: false, why, remedy: culprit.remedy };
  }
  const said = facts.stderr.trim().split("\n").at(-1) ?? "";
  return {
    works: false,
    why: `bwrap fails${said === "" ? "" : `: ${said}`}`,
    remedy:
      "in a container, start that with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`; else update bubblewrap",
  };
}

let asked: Promise<SandboxProbe> | undefined;

/** Whether runs can have a sandbox on this machine, and if not, why. Asked once for each process. */
export function probeSandbox(): Promise<SandboxProbe> {
  asked ??= askMachine().catch((error: unknown) => {
    // A machine that has nothing left at the moment has not answered.
    asked = undefined;
    throw error;
  });
  return asked;
}

function askMachine(): Promise<SandboxProbe> {
  return tryAll().then((tried) => judgeProbe({ platform: process.platform, ...tried, settings: readSettings() }));
}

/** From the strongest on; the last is what there must be. */
const TRIED: readonly BwrapFeatures[] = [true, false].flatMap((filters) => [
  { seals: true, sizes: true, filters },
  { seals: false, sizes: true, filters },
  { seals: false, sizes: false, filters },
]);

type Tried = TriedBwrap & Pick<ProbeFacts, "features">;

async function tryAll(): Promise<Tried> {
  let tried: Tried = { outcome: "missing", stderr: "", features: TRIED.at(-1)! };
  for (const features of TRIED) {
    if (features.filters && !filterFor(process.arch)) continue;
    tried = { ...(await tryFeatures(features)), features };
    if (tried.outcome !== "failed") break;
  }
  return tried;
}

function readSettings(): ProbeFacts["settings"] {
  const read = (setting: string) => readCheckedOut(`/proc/sys/${setting.replace(".", "/")}`);
  return Object.fromEntries(FORBIDDING.map(({ setting }) => [setting, read(setting)]));
}

function tryFeatures(features: BwrapFeatures): ReturnType<typeof tryBwrap> {
  const size = features.sizes ? ["--size", "1048576"] : [];
  const args = [...sealArgs(features), ...BASE_ARGS, ...size, "--tmpfs", "/tmp"];
  const program = findProgram("bwrap", trustedPath(process.env.PATH), "/");
  if (program === undefined) return Promise.resolve({ outcome: "missing", stderr: "" });
  return tryBwrap(program, args, features.filters ? filterFor(process.arch) : undefined);
}
