import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { probeSandbox } from "../../../src/agents/sandbox/probe.ts";
import { makeProject, type Project } from "../../testing/project.ts";

const SECRET = "prloom-test-login-4711";
/** Finds it, and is not it: the agent's own script is seen. */
const PATTERN = "prloom-test-login-471[1]";
const DONE = "sed -i '0,/- \\[ \\]/s//- [x]/' \"$PRLOOM_PLAN_FILE\"";

const cleanUp: (() => void)[] = [];
after(() => {
  for (const one of cleanUp.reverse()) one();
});

function put(p: Project, file: string, text: string, mode = 0o600): void {
  const path = join(p.home, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

/** Prefixes below which Node, Python or Ruby are installed, by whichever program. */
const NODE_PREFIXES = [
  ...[".npm-global", ".npm-packages", ".n", ".local"],
  ...[".nvm/versions/node/v22.1.0", ".volta/tools/image/node/22.1.0", ".fnm/node-versions/v22.1.0/installation"],
  ...[".local/share/fnm/node-versions/v22.1.0/installation", ".n/n/versions/node/22.1.0"],
  ...[".asdf/installs/nodejs/22.1.0", ".local/share/mise/installs/node/22.1.0"],
];
const PYTHON_PREFIXES = [
  ...[".pyenv/versions/3.12.1", ".asdf/installs/python/3.12.1", ".local/share/mise/installs/python/3.12.1"],
  ...["miniconda3", "miniconda3/envs/work", "miniforge3", "anaconda3", ".local/share/uv/python/cpython-3.12"],
  ...[".local/share/uv/tools/ruff", ".local/share/pipx/venvs/black", ".local/share/pipx/shared"],
];

const NODE_OF_PNPM = ["etc/npmrc", "lib/node_modules/npm/npmrc"];

/** Where the usual programs keep logins, as their documentation says. */
const LOGINS = [
  // JavaScript
  ...[".npmrc", ".yarnrc", ".yarnrc.yml", ".config/pnpm/rc", ".config/pnpm/auth.ini", ".bunfig.toml", ".bun/auth.json"],
  ...[".config/.bunfig.toml", ".volta/hooks.json", ".deno/credentials.json", ".config/configstore/firebase-tools.json"],
  ...[".local/share/com.vercel.cli/auth.json", ".config/netlify/config.json", ".wrangler/config/default.toml"],
  ...[".config/.wrangler/config/default.toml", ".expo/state.json", ".now/auth.json"],
  ...NODE_PREFIXES.flatMap((prefix) => [`${prefix}/etc/npmrc`, `${prefix}/lib/node_modules/npm/npmrc`]),
  // Python
  ...[".pypirc", ".pip/pip.conf", ".config/pip/pip.conf", ".config/pypoetry/auth.toml", ".config/uv/uv.toml"],
  ...[".local/share/uv/credentials/credentials.toml", ".local/share/python_keyring/keyring_pass.cfg", ".condarc"],
  ...[
    ".conda/.condarc",
    ".continuum/anaconda-client/tokens/x.token",
    ".config/hatch/config.toml",
    ".config/pdm/config.toml",
  ],
  ...["miniconda3/.condarc", "miniconda3/condarc", "miniconda3/condarc.d/x.yml", "miniconda3/etc/conda-login"],
  ...[".local/share/uv/tools/ruff/uv-receipt.toml", ".local/share/pipx/venvs/black/pipx_metadata.json"],
  ...PYTHON_PREFIXES.map((prefix) => `${prefix}/pip.conf`),
  ...["miniconda3", "miniforge3/envs/work"].flatMap((prefix) => [
    `${prefix}/conda-meta/state`,
    `${prefix}/etc/conda/activate.d/env_vars.sh`,
  ]),
  // What pnpm installed, in a folder that is in PATH as a whole
  ...NODE_OF_PNPM.map((file) => `.local/share/pnpm/nodejs/22.1.0/${file}`),
  ".local/share/pnpm/global/5/.npmrc",
  // Addresses of private plugins
  ...[".asdf", ".pyenv", ".rbenv", ".local/share/mise"].map((manager) => `${manager}/plugins/x/.git/config`),
  // Ruby
  ...[
    ".gem/credentials",
    ".local/share/gem/credentials",
    ".gemrc",
    ".bundle/config",
    ".rvm/user/db",
    ".rbenv/credentials",
  ],
  ...[".rbenv/versions/3.3.0/etc/gemrc", ".asdf/installs/ruby/3.3.0/etc/gemrc"],
  // Rust, Go, JVM, .NET
  ...[".cargo/credentials", ".cargo/credentials.toml", ".cargo/config.toml", ".netrc", "_netrc", ".config/go/env"],
  ...[".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".gradle/init.gradle"],
  ...[".sdkman/candidates/maven/3.9.6/conf/settings.xml", ".sdkman/candidates/gradle/8.7/gradle.properties"],
  ...[".sdkman/candidates/java/21/conf/management/jmxremote.password", ".sdkman/etc/config", ".ivy2/.credentials"],
  ...[".asdf/installs/maven/3.9.6/conf/settings.xml", ".local/share/mise/installs/maven/3.9.6/conf/settings.xml"],
  ...[
    ".sbt/1.0/credentials",
    ".config/coursier/credentials.properties",
    ".nuget/NuGet/NuGet.Config",
    ".dotnet/corefx/x",
  ],
  ...[".config/NuGet/NuGet.Config", ".dotnet/NuGet.Config", ".microsoft/usersecrets/x/secrets.json"],
  // Others
  ...[".composer/auth.json", ".config/composer/auth.json", ".hex/hex.config", ".mix/config", ".cabal/config"],
  ...[
    ".cabal/credentials",
    ".stack/config.yaml",
    ".stack/upload/credentials.json",
    ".ghcup/config.yaml",
    ".opam/config",
  ],
  ...[".luarocks/upload_config.lua", ".pub-cache/credentials.json", ".config/dart/pub-credentials.json"],
  ...[
    ".config/flutter/tool_state",
    ".local/share/mise/credentials.toml",
    ".config/mise/config.toml",
    ".asdf/credentials",
  ],
  ...[".asdfrc", ".nvm/.npmrc", ".pyenv/credentials", ".rustup/credentials"],
  // Clouds, forges, containers
  ...[".docker/config.json", ".config/containers/auth.json", ".kube/config", ".aws/credentials", ".aws/config"],
  ...[
    ".config/gcloud/application_default_credentials.json",
    ".config/gcloud/credentials.db",
    ".azure/msal_token_cache.json",
  ],
  ...[
    "google-cloud-sdk/properties",
    "google-cloud-sdk/lib-login",
    ".config/gh/hosts.yml",
    ".config/glab-cli/config.yml",
  ],
  ...[
    ".config/hub",
    ".git-credentials",
    ".config/git/credentials",
    ".gitconfig",
    ".config/doctl/config.yaml",
    ".fly/config.yml",
  ],
  ...[".terraform.d/credentials.tfrc.json", ".terraformrc", ".pulumi/credentials.json", ".vault-token", ".oci/config"],
  ...[
    ".config/helm/registry/config.json",
    ".databrickscfg",
    ".snowflake/config.toml",
    ".dbt/profiles.yml",
    ".s3cfg",
    ".boto",
  ],
  ...[
    ".cache/huggingface/token",
    ".huggingface/token",
    ".kaggle/kaggle.json",
    ".config/wandb/settings",
    ".config/rclone/rclone.conf",
  ],
  ...[
    ".config/sops/age/keys.txt",
    ".config/age/keys.txt",
    ".ssh/id_ed25519",
    ".gnupg/private-keys-v1.d/x.key",
    ".pgpass",
  ],
  ...[
    ".my.cnf",
    ".config/op/config",
    ".local/share/keyrings/login.keyring",
    ".password-store/x.gpg",
    ".mozilla/x",
    ".bash_history",
  ],
];

test("no login of another program is seen, wherever below the home it lies", async (t) => {
  if (!(await probeSandbox()).works) return t.skip("no sandbox");
  const p = makeProject({ config: { limits: { stopGrace: "200ms", attemptsPerTodo: 1 } } });
  cleanUp.push(() => p.remove());
  for (const file of LOGINS) put(p, file, `_authToken=${SECRET}\n`);
  // conda notes the commands it was called with.
  put(p, "miniconda3/conda-meta/history", `# cmd: conda install -c https://conda.example/t/${SECRET}/work tool\n`);
  put(p, "miniforge3/conda-meta/history", "# cmd: conda install tool\n");
  // Programs in all these places still work: their own files are there.
  put(p, ".npm-packages/lib/node_modules/tool/cli.sh", "#!/bin/sh\necho tool runs\n", 0o755);
  mkdirSync(join(p.home, ".npm-packages/bin"), { recursive: true });
  symlinkSync("../lib/node_modules/tool/cli.sh", join(p.home, ".npm-packages/bin/tool"));
  const parts = [
    ...[".npm-global", ".nvm/versions/node/v22.1.0", ".volta/tools/image/node/22.1.0"].map(
      (prefix) => `${prefix}/lib/a`,
    ),
    ...[
      ".asdf/installs/python/3.12.1/bin/a",
      ".pyenv/versions/3.12.1/lib/a",
      "miniconda3/envs/work/lib/a",
      ".cargo/bin/a",
    ],
    ...[
      ".local/share/uv/python/cpython-3.12/lib/a",
      ".local/share/uv/tools/ruff/pyvenv.cfg",
      ".local/share/gem/ruby/3.3.0/a",
    ],
    ...[".sdkman/candidates/java/21/conf/security/a", ".sdkman/candidates/maven/3.9.6/boot/a", ".rustup/settings.toml"],
    ".dotnet/dotnet",
  ];
  for (const file of parts) put(p, file, "needed\n", 0o755);
  const script = [
    "#!/bin/sh",
    `grep -rls "${PATTERN}" "$HOME" > seen.txt`,
    `for file in ${LOGINS.join(" ")}; do grep -ls "${PATTERN}" "$HOME/$file" >> seen.txt; done`,
    'cat "$HOME/miniforge3/conda-meta/history" > history.txt',
    `for file in ${parts.join(" ")}; do cat "$HOME/$file" >> parts.txt; done`,
    "tool > tool.txt 2>&1",
    DONE,
  ].join("\n");
  put(p, "agent.sh", script, 0o755);
  const command = join(p.home, "agent.sh");
  p.config({ agents: { test: { adapter: "command", command, sandbox: "bwrap" } } });
  p.plan("one", ["Do it"]);
  const bins = [...NODE_PREFIXES, ".cargo", "google-cloud-sdk", ".luarocks", ".pub-cache", ".opam"].map(
    (prefix) => `${prefix}/bin`,
  );
  for (const bin of bins) mkdirSync(join(p.home, bin), { recursive: true });
  // As its installer says: the folder that has everything of it.
  symlinkSync(join(p.home, ".dotnet"), join(p.home, "linked-dotnet"));
  const path = [
    ...[...bins, ".local/share/pnpm", ".dotnet", "linked-dotnet"].map((bin) => join(p.home, bin)),
    process.env.PATH,
  ].join(":");
  const { stdout, stderr } = await p.work({ PATH: path });
  assert.equal(p.record("one").status, "review", stdout + stderr);
  assert.equal(p.git("show", "prloom/one:seen.txt"), "");
  assert.equal(p.git("show", "prloom/one:history.txt"), "# cmd: conda install tool\n");
  assert.equal(p.git("show", "prloom/one:tool.txt"), "tool runs\n");
  assert.equal(p.git("show", "prloom/one:parts.txt"), "needed\n".repeat(parts.length));
});
