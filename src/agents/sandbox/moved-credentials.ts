import { statSync } from "node:fs";
import { delimiter, isAbsolute } from "node:path";
import { isWithin } from "../../kernel/paths.ts";
import type { Environment } from "../../kernel/system/environment.ts";
import { realOf } from "./places.ts";

/** Variables with which people say that their credentials lie elsewhere than below their home. */
const CREDENTIAL_VARIABLES = [
  "SSH_AUTH_SOCK",
  "GNUPGHOME",
  "NETRC",
  "GIT_CONFIG_GLOBAL",
  "GH_CONFIG_DIR",
  "NPM_CONFIG_USERCONFIG",
  "npm_config_userconfig",
  "PIP_CONFIG_FILE",
  "CARGO_HOME",
  "DOCKER_CONFIG",
  "KUBECONFIG",
  "AWS_SHARED_CREDENTIALS_FILE",
  "AWS_CONFIG_FILE",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "CLOUDSDK_CONFIG",
  "AZURE_CONFIG_DIR",
  "PGPASSFILE",
  "CLAUDE_CONFIG_DIR",
  "CODEX_HOME",
  "OPENCODE_CONFIG_DIR",
  ...["DOCKER_HOST", "CONTAINER_HOST", "REGISTRY_AUTH_FILE", "HELM_REGISTRY_CONFIG", "TF_CLI_CONFIG_FILE"],
  ...["AWS_WEB_IDENTITY_TOKEN_FILE", "AZURE_FEDERATED_TOKEN_FILE", "BOTO_CONFIG", "HF_TOKEN_PATH", "KAGGLE_CONFIG_DIR"],
  ...["KRB5CCNAME", "KRB5_KTNAME", "XAUTHORITY", "GPG_AGENT_INFO", "GNOME_KEYRING_CONTROL", "PASSWORD_STORE_DIR"],
  ...["GLAB_CONFIG_DIR", "GCM_PLAINTEXT_STORE_PATH", "VSCODE_GIT_IPC_HANDLE", "VSCODE_IPC_HOOK_CLI", "COMPOSER_HOME"],
  ...[
    "NPM_CONFIG_GLOBALCONFIG",
    "npm_config_globalconfig",
    "GRADLE_USER_HOME",
    "POETRY_CONFIG_DIR",
    "UV_CREDENTIALS_DIR",
  ],
  ...["BUNDLE_USER_HOME", "BUNDLE_USER_CONFIG", "CONDARC", "HEX_HOME", "PUB_CACHE", "COURSIER_CREDENTIALS", "HF_HOME"],
  ...[
    "PULUMI_HOME",
    "HELM_CONFIG_HOME",
    "HELM_REPOSITORY_CONFIG",
    "TALOSCONFIG",
    "OCI_CLI_CONFIG_FILE",
    "RCLONE_CONFIG",
  ],
  ...["DBT_PROFILES_DIR", "SNOWFLAKE_HOME", "DATABRICKS_CONFIG_FILE", "SOPS_AGE_KEY_FILE", "RESTIC_PASSWORD_FILE"],
  ...["ANSIBLE_VAULT_PASSWORD_FILE", "GEMINI_CLI_HOME"],
];

/** Where these variables lead; one that the agent is to have is none of them. */
export function movedCredentials(env: Environment, passed: readonly string[]): { files: string[]; folders: string[] } {
  const found = { files: new Set<string>(), folders: new Set<string>() };
  for (const name of CREDENTIAL_VARIABLES) {
    if (passed.includes(name)) continue;
    for (const path of (env[name] ?? "").split(delimiter)) {
      const real = isAbsolute(path) ? realOf(path) : undefined;
      // `/dev/null` is how people say "none".
      if (real === undefined || isWithin(real, "/dev")) continue;
      found[statSync(real).isDirectory() ? "folders" : "files"].add(real);
    }
  }
  return { files: [...found.files], folders: [...found.folders] };
}
