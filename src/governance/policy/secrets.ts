import { fitsPattern } from "../shell/values/glob.ts";
import { beforePattern, describeText, type Text } from "../shell/values/text.ts";

/** Files that hold keys, tokens and passwords, below a home or anywhere. */
const SECRET_FILES: readonly RegExp[] = [
  /(?:^|\/)\.(?:ssh|aws|gnupg|azure|kube|docker|gcloud|password-store|vault-token|terraform\.d)(?:\/|$)/,
  /(?:^|\/)\.config\/(?:gcloud|gh|op|hub|doctl|rclone|sops|age|configstore)(?:\/|$)/,
  /(?:^|\/)\.(?:netrc|pgpass|my\.cnf|pypirc|npmrc|yarnrc|git-credentials|s3cfg|boto|htpasswd|dockercfg|bash_history|zsh_history|python_history|node_repl_history|psql_history|mysql_history)$/,
  /(?:^|\/)\.env(?:\.(?!example$|sample$|template$|dist$|defaults$|schema$|test$|ci$)[\w.-]+)?$/,
  /(?:^|\/)(?:id_rsa|id_dsa|id_ecdsa|id_ed25519|identity)(?:\.\w+)?$/,
  /(?:^|\/)[\w.-]+\.(?:pem|key|p12|pfx|jks|keystore|kdbx|asc|ppk|ovpn)$/,
  /(?:^|\/)(?:credentials|secrets?|tokens?|master\.key|service-account)(?:\.(?:json|ya?ml|toml|ini|txt|enc))?$/,
  /(?:^|\/)certs(?:\/|$)/,
  /^\/etc\/(?:shadow|gshadow|sudoers|ssl\/private|krb5\.keytab)/,
  /^\/proc\/(?:\d+|self|thread-self|\*|\$\$|[^/]*)\/(?:environ|mem|cmdline)$/,
];

const SECRET_FILE = new RegExp(SECRET_FILES.map(({ source }) => source).join("|"));

/** Names that a pattern can mean. */
const SECRET_NAMES = [".env", ".netrc", ".npmrc", ".git-credentials", ".ssh", ".aws", ".gnupg", ".kube", "id_rsa"];

/** What a pattern of names without a letter fits, it does not look for. */
const isWide = (pattern: string): boolean => /^[.*?/\\]*$/.test(pattern);

/** Whether a part of a pattern, as `.en?` or `.s*`, fits the name of something secret. In a shell, `*` means no name with a dot first. */
function meansSecret(pattern: string): boolean {
  return pattern
    .split("/")
    .some((part) => /^[.i\\[].*[*?[]/.test(part) && SECRET_NAMES.some((name) => fitsPattern(part, name)));
}

/** Whether a search by name finds something secret, whatever stands before and behind it. */
function findsSecret(folder: string, name: string): boolean {
  if (isSecret({ type: "known", text: `${folder}/${name.replace(/[*?]/g, "x")}` })) return true;
  const last = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  return !isWide(last) && SECRET_NAMES.some((secret) => fitsPattern(last, secret));
}

export function isSecret(path: Text): boolean {
  if (path.type === "unknown") return path.starts?.startsWith("/proc/") ?? false;
  if (path.type === "found") {
    const { folder, names = [] } = path;
    return isSecret({ type: "known", text: folder }) || names.some((name) => findsSecret(folder, name));
  }
  if (path.type === "glob" && meansSecret(path.text)) return true;
  if (SECRET_FILE.test(describeText(path))) return true;
  if (path.type !== "glob") return false;
  return SECRET_FILE.test(beforePattern(path.text)) || SECRET_FILE.test(path.text.replace(/[*?]/g, "x"));
}
