/** What an installation needs to run. Not its `etc` and not files at its top: there npm, pip, conda and others keep logins. */
const PARTS = ["bin", "sbin", "lib", "lib64", "libexec", "include", "share"];

const partsOf = (folder: string, parts: readonly string[] = PARTS): string[] =>
  parts.map((part) => `${folder}/${part}`);

/** Java lies among its configuration; Maven and Gradle have files with logins in their own folders. */
const JAVA = [
  ...["bin", "lib", "jmods", "include", "release", "jre/bin", "jre/lib"],
  ...["security", "net.properties", "logging.properties", "jaxp.properties"].map((file) => `conf/${file}`),
];

/** What version managers install: `<tool>/<version>/…`. */
const INSTALLED = [...PARTS, ...JAVA, "pyvenv.cfg", "boot", "go/bin", "go/pkg", "go/src", "go/lib", "go/VERSION"];

/** Packages that builds downloaded, in places that cannot be told to lie in `~/.cache`; kept in a private home. */
export const PACKAGES: readonly string[] = [
  ...[".cargo/registry", ".cargo/git", "go/pkg/mod", ".m2/repository", ".nuget/packages", ".pub-cache/hosted"],
  ...[".gradle/caches", ".gradle/wrapper/dists"],
];

/**
 * Below the home, what builds and tests need: programs of version managers and what these installed. An allow-list, down to the
 * folders that hold no logins; `*` stands for any one name. Read-only: a program put there would run outside of the
 * sandbox the next time its owner types its name.
 */
export const TOOLCHAINS: readonly string[] = [
  // Node
  ...partsOf(".nvm", ["nvm.sh", "nvm-exec", "bash_completion", "alias"]),
  ...partsOf(".nvm/versions/node/*"),
  ...partsOf(".nvm/versions/io.js/*"),
  ...partsOf(".volta", ["bin", "layout.v4", "tools/user"]),
  ...["node", "npm", "yarn", "pnpm"].flatMap((tool) => partsOf(`.volta/tools/image/${tool}/*`)),
  ...partsOf(".volta/tools/image/packages/*"),
  ...[".fnm", ".local/share/fnm"].flatMap((fnm) => [
    ...partsOf(`${fnm}/node-versions/*/installation`),
    ...partsOf(`${fnm}/aliases/*`),
  ]),
  ...partsOf(".n"),
  ...partsOf(".n/n/versions/node/*"),
  ...[".bun/bin", ".bun/install/global/node_modules", ".deno/bin"],
  ...partsOf(".npm-global"),
  // Several languages
  ...partsOf(".asdf", ["asdf.sh", "bin", "lib", "libexec", "shims", "plugins"]),
  ...partsOf(".asdf/installs/*/*", INSTALLED),
  ...partsOf(".local/share/mise", ["bin", "shims", "plugins"]),
  ...partsOf(".local/share/mise/installs/*/*", INSTALLED),
  ".nix-profile",
  ".local/bin",
  // Python
  ...partsOf(".pyenv", ["bin", "libexec", "shims", "plugins", "completions", "version"]),
  ...partsOf(".pyenv/versions/*", [...PARTS, "pyvenv.cfg"]),
  ".local/lib",
  ...partsOf(".local/share/uv/python/*"),
  ...partsOf(".local/share/uv/tools/*", [...PARTS, "pyvenv.cfg"]),
  ...partsOf(".local/share/pipx/shared", [...PARTS, "pyvenv.cfg"]),
  ...partsOf(".local/share/pipx/venvs/*", [...PARTS, "pyvenv.cfg"]),
  ...["miniconda3", "miniforge3", "anaconda3"].flatMap((conda) => [
    ...partsOf(conda, [...PARTS, "condabin", "conda-meta", "shell", "ssl", "etc/profile.d", "etc/conda"]),
    ...partsOf(`${conda}/envs/*`, [...PARTS, "conda-meta", "ssl", "etc/conda"]),
  ]),
  // Rust, Go, Haskell, Ruby, JVM, .NET
  ...partsOf(".rustup", ["toolchains", "settings.toml", "update-hashes"]),
  ...partsOf(".cargo", ["bin", "env"]),
  "go/bin",
  ...partsOf("sdk/*", ["bin", "pkg", "src", "lib", "misc", "VERSION", "go.env"]),
  ...partsOf(".ghcup", ["bin", "ghc", "hls"]),
  ".cabal/bin",
  ...partsOf(".rbenv", ["bin", "libexec", "shims", "plugins", "completions", "rbenv.d", "version"]),
  ...partsOf(".rbenv/versions/*"),
  ...partsOf(".rvm", ["bin", "scripts", "lib", "gems", "environments", "wrappers", "VERSION"]),
  ...partsOf(".rvm/rubies/*"),
  ".local/share/gem/ruby",
  ...partsOf(".sdkman", ["bin", "src"]),
  ...partsOf(".sdkman/candidates/*/*", [...INSTALLED, "conf/logging"]),
  ...partsOf(".dotnet", ["dotnet", "tools", "sdk", "shared", "host", "packs", "sdk-manifests"]),
];
