import { beforePattern, describe, type Text } from "../shell/values/text.ts";

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

/** Names that a pattern beginning with a dot or a letter can mean. */
const SECRET_NAMES = [".env", ".netrc", ".npmrc", ".git-credentials", ".ssh", ".aws", ".gnupg", ".kube", "id_rsa"];

/** Whether a part of a pattern, as `.en?` or `.s*`, fits the name of something secret. */
function meansSecret(pattern: string): boolean {
  return pattern.split("/").some((part) => {
    if (!/^[.i\\[].*[*?[]|^\.[*?[]/.test(part) || part.length > 40) return false;
    const source = part
      .replace(/\\(.)/g, "$1")
      .replace(/[.+^${}()|\\]/g, "\\$&")
      .replace(/\*+/g, ".*")
      .replace(/\?/g, ".");
    try {
      const regular = new RegExp(`^${source}$`);
      return SECRET_NAMES.some((name) => regular.test(name));
    } catch {
      return true;
    }
  });
}

export function isSecret(path: Text): boolean {
  if (path.type === "unknown") return path.starts?.startsWith("/proc/") ?? false;
  if (path.type === "found") {
    const { folder, names = [] } = path;
    return names.some((name) => isSecret({ type: "known", text: `${folder}/${name.replace(/[*?]/g, "x")}` }));
  }
  if (path.type === "glob" && meansSecret(path.text)) return true;
  if (SECRET_FILE.test(describe(path))) return true;
  return path.type === "glob" && SECRET_FILE.test(beforePattern(path.text));
}

const METADATA =
  /^(?:169\.254\.(?:169\.254|170\.2|170\.23)|100\.100\.100\.200|192\.0\.0\.192|\[fd00:ec2::(?:254|23)\]|\[::ffff:a9fe:a9fe\]|metadata(?:\.google\.internal|\.azure\.internal|\.platformequinix\.com)?\.?)$/;

/** Where machines in a cloud get their tokens, however the address is spelled. */
export function isSecretAddress(url: string): boolean {
  // Without a scheme, a port would be read as one.
  const address = /^\s*[a-z][a-z+.-]*:\/\//i.test(url) ? url : `http://${url}`;
  return METADATA.test(URL.parse(address)?.hostname ?? "");
}
