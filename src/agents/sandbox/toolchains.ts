/**
 * Folders below the home where people keep the programs that builds and tests need: version managers and what they
 * installed. None of them holds a login; of those that do (`.cargo`, `.bun`, `go`, `.dotnet`) only the part without it is
 * named. Read-only: a program put there would run outside of the sandbox the next time its owner types its name.
 */
export const TOOLCHAINS: readonly string[] = [
  // Node
  ".nvm",
  ".volta",
  ".fnm",
  ".local/share/fnm",
  ".n",
  ".bun/bin",
  ".deno/bin",
  ".npm-global",
  // Several languages
  ".asdf",
  ".local/share/mise",
  ".nix-profile",
  ".local/bin",
  // Python
  ".pyenv",
  ".local/lib",
  ".local/share/uv",
  ".local/share/pipx",
  "miniconda3",
  "miniforge3",
  // Rust, Go, Haskell, Ruby, JVM, .NET
  ".rustup",
  ".cargo/bin",
  "go/bin",
  ".ghcup/bin",
  ".rbenv",
  ".rvm",
  ".local/share/gem",
  ".sdkman/candidates",
  ".dotnet/tools",
  ".dotnet/sdk",
  ".dotnet/shared",
  ".dotnet/dotnet",
];
