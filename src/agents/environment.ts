import type { Environment } from "../kernel/system/environment.ts";
import { absolutePath } from "../kernel/system/find-program.ts";

/**
 * What an agent needs of ours to find programs, files and the network. Everything else stays with us: tokens and keys,
 * ssh and git settings, what npm and Node were started with. XDG_RUNTIME_DIR is left out because sockets lie there.
 */
const ALLOWED = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TERM",
  "COLORTERM",
  "TZ",
  "TMPDIR",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_CONFIG_DIRS",
  "XDG_DATA_HOME",
  "XDG_DATA_DIRS",
  "XDG_STATE_HOME",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_DIR",
  "SSL_CERT_FILE",
]);

/** People put anything behind `LC_` to get it through ssh, so only the shape of a real category passes. */
const ALLOWED_SHAPE = /^(LC_[A-Z]+|(https?|no|all|ftp)_proxy|(HTTPS?|NO|ALL|FTP)_PROXY)$/;

export interface EnvironmentParts {
  /** PRLOOM_* of this run; nothing overrides them. */
  readonly vars: Readonly<Record<string, string>>;
  /** `agents.<name>.env`. */
  readonly extra: Readonly<Record<string, string>>;
  /** `agents.<name>.passEnv`: what of ours the user lets this agent have. */
  readonly pass?: readonly string[];
}

/** A NUL ends a variable early, and one of more than 128 KB keeps the program from starting at all. */
function fitting(value: string): string {
  const clean = value.replaceAll("\0", "");
  return clean.length > 32_000 ? `${clean.slice(0, 32_000)}…` : clean;
}

/** No PATH at all when nothing is left of it: an empty one means the current folder. */
function withAbsolutePath({ PATH, ...environment }: Record<string, string>): Record<string, string> {
  const path = absolutePath(PATH);
  return path === "" ? environment : { PATH: path, ...environment };
}

/** The whole environment of an agent: an allow-list of ours, then the agent's own, then the run's. */
export function agentEnvironment(parent: Environment, parts: EnvironmentParts): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(parent)) {
    const allowed = ALLOWED.has(name) || ALLOWED_SHAPE.test(name) || (parts.pass?.includes(name) ?? false);
    if (value !== undefined && allowed && !name.startsWith("PRLOOM_")) environment[name] = value;
  }
  // A question for a password would wait forever: no person sees it.
  environment.GIT_TERMINAL_PROMPT = "0";
  for (const [name, value] of Object.entries(parts.extra)) {
    if (!name.startsWith("PRLOOM_")) environment[name] = value;
  }
  for (const [name, value] of Object.entries(parts.vars)) environment[name] = fitting(value);
  return withAbsolutePath(environment);
}
