import { fitsPath, fitsPattern } from "../shell/values/glob.ts";
import {
  beforePattern,
  describeText,
  type FoundNames,
  lastNameOf,
  placeOfFound,
  type Text,
  withoutWildcards,
} from "../shell/values/text.ts";
import { below, matchesAny, matching } from "./paths.ts";
import type { Policy } from "./policy-file.ts";

/** Files that hold keys, tokens and passwords: hidden ones and what is in hidden folders, below a home or anywhere. */
const SECRET_HIDDEN: readonly RegExp[] = [
  /(?:^|\/)\.(?:ssh|aws|gnupg|azure|kube|gcloud|password-store|vault-token|terraform\.d)(?:\/|$)/,
  /(?:^|\/)\.docker\/(?:config\.json$|contexts(?:\/|$))/,
  /(?:^|\/)\.config\/(?:gcloud|gh|op|hub|doctl|rclone|sops|age|configstore)(?:\/|$)/,
  /(?:^|\/)\.(?:netrc|pgpass|my\.cnf|pypirc|npmrc|yarnrc|git-credentials|s3cfg|boto|htpasswd|dockercfg|bash_history|zsh_history|python_history|node_repl_history|psql_history|mysql_history)$/,
  // Logins of agent programs and their like, which they keep beside their settings.
  /(?:^|\/)\.(?:claude|codex|gemini|qwen|cursor|copilot|composer|config\/[\w.-]+|local\/share\/[\w.-]+)\/(?:mcp-)?(?:auth|\.credentials|oauth_creds|accounts|mcp-oauth-tokens)\.json$/,
  /(?:^|\/)\.config\/github-copilot(?:\/|$)/,
  /(?:^|\/)\.claude\.json$/,
  /(?:^|\/)\.envrc$/,
  /(?:^|\/)\.env(?:\.(?!example$|sample$|template$|dist$|defaults$|schema$|test$|ci$)[\w.-]+)?$/,
];

/** By their last name, wherever they are. */
const SECRET_LAST: readonly RegExp[] = [
  /^(?:id_rsa|id_dsa|id_ecdsa|id_ed25519)(?:\.\w+)?$/,
  /^[\w.-]+\.(?:pem|key|p12|pfx|jks|keystore|kdbx|asc|ppk|ovpn)$/,
  /^(?:credentials|secrets?|token|master\.key|service-account)(?:\.(?:json|ya?ml|toml|ini|txt|enc))?$/,
  // Tokens of a design are JSON or YAML.
  /^tokens(?:\.(?:ini|txt|enc))?$/,
];

/** Those of the machine. */
const SECRET_SYSTEM: readonly RegExp[] = [
  /^\/etc\/(?:shadow|gshadow|sudoers|ssl\/private|krb5\.keytab)/,
  /^(?:\/var)?\/run\/secrets(?:\/|$)/,
  /^\/proc\/(?:.*\/)?(?:environ|mem|cmdline)$/,
  // Disks and memory as they are, with everything in them.
  /^\/proc\/kcore$|^\/dev\/(?:k?mem$|(?:sd|hd|vd|xvd)[a-z]|nvme\d|mmcblk\d|dm-|mapper\/|disk\/)/,
];

const anyOf = (patterns: readonly RegExp[]) => new RegExp(patterns.map(({ source }) => source).join("|"), "i");
const [HIDDEN, LAST, SYSTEM] = [anyOf(SECRET_HIDDEN), anyOf(SECRET_LAST), anyOf(SECRET_SYSTEM)];

/** Everything in a folder for certificates but what documents or makes them. */
const CERTIFICATES = /(?:^|\/)certs(?:\/|$)/i;
const DOCUMENT_OR_CODE = /\.(?:md|html?|[cm]?[jt]sx?|py|go|rs|rb|sh)$/i;

const isSecretName = (path: string): boolean =>
  LAST.test(path.slice(path.lastIndexOf("/") + 1)) ||
  ((path.startsWith(".") || path.includes("/.")) && HIDDEN.test(path)) ||
  SYSTEM.test(path) ||
  (CERTIFICATES.test(path) && !DOCUMENT_OR_CODE.test(path));

/** Names that a pattern can mean. */
const SECRET_NAMES = [".env", ".netrc", ".npmrc", ".git-credentials", ".ssh", ".aws", ".gnupg", ".kube", "id_rsa"];

/** What a pattern of names without a letter fits, it does not look for. */
const isWide = (pattern: string): boolean => /^[.*?/\\]*$/.test(pattern);

/** Whether a part of a pattern, as `.en?` or `.s*`, fits the name of something secret. In a shell, `*` means no name with a dot first. */
function meansSecret(pattern: string): boolean {
  return pattern
    .toLowerCase()
    .split("/")
    .some((part) => /^[.i\\[].*[*?[]/.test(part) && SECRET_NAMES.some((name) => fitsPattern(part, name)));
}

/** Whether a search by name finds something secret, whatever stands before and behind it. */
function findsSecret(found: FoundNames): boolean {
  const { folder } = placeOfFound(found);
  const last = lastNameOf(found)?.toLowerCase();
  if (isSecret({ type: "known", text: folder })) return true;
  if (last === undefined) return false;
  if (isSecret({ type: "known", text: filledIn(found.text) })) return true;
  return !isWide(last) && SECRET_NAMES.some((secret) => fitsPattern(last, secret));
}

export function isSecret(path: Text): boolean {
  if (path.type === "unknown") return path.starts?.startsWith("/proc/") ?? false;
  if (path.type === "found") return findsSecret(path);
  if (path.type === "glob" && meansSecret(path.text)) return true;
  if (isSecretName(describeText(path))) return true;
  if (path.type !== "glob") return false;
  return isSecretName(beforePattern(path.text)) || isSecretName(filledIn(path.text));
}

/** A name that the pattern fits: `*.pem` can mean `x.pem`. */
const filledIn = (pattern: string): string => withoutWildcards(pattern, "x");

/** What `governance.secrets` says about a path below the worktree; `!` before a pattern takes files out, those that always are secret too. */
export function configuredSecret(
  path: string,
  patterns: readonly string[],
): { pattern: string } | "not-secret" | undefined {
  if (patterns.length === 0) return undefined;
  const { secret, not } = listsOf(patterns);
  if (matchesAny(path, not)) return "not-secret";
  const pattern = matching(path, secret, "any-case");
  return pattern === undefined ? undefined : { pattern };
}

/** By the list itself, as patterns are compiled. */
const lists = new WeakMap<readonly string[], { secret: string[]; not: string[] }>();

function listsOf(patterns: readonly string[]): { secret: string[]; not: string[] } {
  const before = lists.get(patterns);
  if (before) return before;
  const [not, secret] = [true, false].map((taken) => patterns.filter((one) => one.startsWith("!") === taken));
  const made = { secret: secret ?? [], not: (not ?? []).map((one) => one.slice(1)) };
  lists.set(patterns, made);
  return made;
}

/** The secret of the config that a pattern of a search or a shell can mean; `*.json` at any depth means a kind of files, no single one. */
export function secretMeant(glob: string, patterns: readonly string[]): string | undefined {
  if (patterns.length === 0 || !/[*?[]/.test(glob)) return undefined;
  if (glob.includes("**") && glob.startsWith("*", glob.lastIndexOf("/") + 1)) return undefined;
  return listsOf(patterns).secret.find((one) => !one.includes("*") && fitsPath(glob, one));
}

/** Whether a search below a folder looks for a secret of the config by its name. */
function findsConfigured(found: FoundNames, { root, secrets }: RootAndSecrets): boolean {
  const last = lastNameOf(found);
  // `*.json` means a kind of files.
  if (secrets.length === 0 || last === undefined || last.startsWith("*")) return false;
  const { folder } = placeOfFound(found);
  return listsOf(secrets)
    .secret.filter((one) => below(`${root}/${one}`, folder) !== undefined)
    .map((one) => one.slice(one.lastIndexOf("/") + 1))
    .some((base) => !isWide(base) && (fitsPattern(last, base) || fitsPattern(base, filledIn(last))));
}

type RootAndSecrets = Pick<Policy, "root" | "secrets">;

/** The same, with what the config says about files of the worktree. */
export function isSecretIn(path: Text, policy: RootAndSecrets): boolean {
  const { root, secrets } = policy;
  if (path.type === "found") return isSecret(path) || findsConfigured(path, policy);
  const inTree = path.type === "known" || path.type === "glob" ? below(path.text, root) : undefined;
  if (inTree === undefined || secrets.length === 0) return isSecret(path);
  const said = configuredSecret(inTree, secrets);
  if (said === "not-secret") return path.type === "glob" && isSecret(path);
  return said !== undefined || isSecret(path) || secretMeant(inTree, secrets) !== undefined;
}
