import { beforePattern, describe, type Text } from "../shell/text.ts";

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

export function isSecret(path: Text): boolean {
  if (path.type === "found" || path.type === "unknown") return false;
  const text = describe(path);
  if (SECRET_FILES.some((one) => one.test(text))) return true;
  return path.type === "glob" && SECRET_FILES.some((one) => one.test(beforePattern(path.text)));
}
