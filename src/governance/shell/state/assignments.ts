import { absolutePaths, isLoopback, writes } from "../paths.ts";
import { noteOutputs } from "../programs/outputs.ts";
import { OUTPUT } from "../values/flow.ts";
import { describeText, known, startOf, type Text, textOf } from "../values/text.ts";
import { ALL_THAT_IS_SET, noteEffect, noteUnknown, type Spot, setVariable } from "./state.ts";

/** Variables that make programs load code, or other settings. */
const LOADS_CODE =
  /^(?:LD_PRELOAD|LD_AUDIT|LD_LIBRARY_PATH|DYLD_\w+|BASH_ENV|ENV|PROMPT_COMMAND|PS4|SHELLOPTS|BASHOPTS|PYTHONSTARTUP|PYTHONHOME|PYTHONINSPECT|PYTHONBREAKPOINT|PYTHONUSERBASE|PYTEST_PLUGINS|COVERAGE_PROCESS_START|LUA_INIT\w*|R_(?:PROFILE|ENVIRON)(?:_USER)?|ERL_[AZ]?FLAGS|ELIXIR_ERL_OPTIONS|JULIA_LOAD_PATH|GUILE_LOAD_PATH|PHPRC|PHP_INI_SCAN_DIR|DOTNET_STARTUP_HOOKS|CORECLR_\w+|OPENSSL_(?:CONF|MODULES|ENGINES)|AWS_CONFIG_FILE|VIMINIT|GVIMINIT|EXINIT|PERL5OPT|PERL5LIB|PERL5DB|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|LESSOPEN|LESSCLOSE|RUSTC_WRAPPER|RUSTC_WORKSPACE_WRAPPER|RUSTC|RUSTDOC|CARGO_(?:BUILD_RUST\w+|TARGET_\w+_(?:RUNNER|LINKER|RUSTFLAGS))|GOTOOLDIR|GCONV_PATH|NODE_PATH|NODE_REPL_EXTERNAL_MODULE|ELECTRON_RUN_AS_NODE|BUN_BE_BUN|BUN_OPTIONS|[nN][pP][mM]_(?:config|CONFIG)_(?:script_shell|SCRIPT_SHELL|global|GLOBAL|NODE_OPTIONS|GLOBALCONFIG|USERCONFIG|PREFIX|GIT|SHELL|IGNORE_SCRIPTS|node_options|globalconfig|userconfig|prefix|git|shell|ignore_scripts)|npm_execpath|SSH_ASKPASS|GCC_EXEC_PREFIX|COMPILER_PATH|MAKEFILES|GOAUTH|FZF_DEFAULT_\w+|CCACHE_(?:PREFIX\w*|COMPILER)|PSQL_EDITOR|PERL5SHELL|CMAKE_\w+_(?:LAUNCHER|COMPILER)|CARGO_ALIAS_\w+|CARGO_\w*CREDENTIAL_PROVIDER\w*|YARN_YARN_PATH|SHELL|COMSPEC|BASH_FUNC_.*)$/;

/** Settings of git that run programs or turn it to another repository. Who wrote a commit, and how much is printed, is harmless. */
const GIT_HARMLESS =
  /^GIT_(?:(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|TERMINAL_PROMPT|PAGER_IN_USE|OPTIONAL_LOCKS|TRACE\w*|CURL_VERBOSE|ADVICE|LITERAL_PATHSPECS|MERGE_AUTOEDIT|REDACT_COOKIES|DEFAULT_HASH|CEILING_DIRECTORIES|NO_LAZY_FETCH)$/;

/** Options that are carried into every call of a program. */
const CARRIED: Readonly<Record<string, string>> = {
  TAR_OPTIONS: "tar",
  GZIP: "gzip",
  GREP_OPTIONS: "grep",
  RSYNC_RSH: "rsync",
  TAPE: "tar",
  ZIPOPT: "zip",
  UNZIP: "unzip",
  XZ_OPT: "xz",
  XZ_DEFAULTS: "xz",
  WGETRC: "wget",
  CURL_HOME: "curl",
  RIPGREP_CONFIG_PATH: "rg",
  PIP_CONFIG_FILE: "pip",
  PIP_TARGET: "pip",
  PIP_PREFIX: "pip",
  PIP_ROOT: "pip",
  PIP_USER: "pip",
  PIP_BREAK_SYSTEM_PACKAGES: "pip",
  PARALLEL: "parallel",
  MANOPT: "man",
  MAVEN_ARGS: "mvn",
};

const OURS = /^(?:PRLOOM_|OPENCODE_|CLAUDE_|CLAUDECODE|CODEX_|GEMINI_|ANTHROPIC_|KIRO_|AMP_|DISABLE_AUTOUPDATER)/;
const PROGRAMS =
  /^(?:CC|CXX|CPP|LD|AR|AS|FC|HOSTCC|PKG_CONFIG|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|GIT_PAGER|GIT_EDITOR|GIT_SEQUENCE_EDITOR|SYSTEMD_PAGER|DELTA_PAGER|BAT_PAGER|PSQL_PAGER)$/;
const HARMLESS_PROGRAM = /^(?:cat|true|:|less(?: -\w+)*|more|vim?|nano|emacs|head|code --wait|)$/;
const NODE_LOADS =
  /(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader|--env-file|--inspect\S*|-e|--eval|-p|--print|--eval=\S*|--require=\S*|--import=\S*|--loader=\S*|--openssl-config\S*)(?:[\s=]|$)/;
/** Modules of the project that Node is made to load so that it reads TypeScript, or settings. */
export const LOADER =
  /^(?:tsx(?:\/(?:esm|cjs))?|ts-node(?:\/(?:register|esm)(?:\/transpile-only)?)?|tsconfig-paths\/register|dotenv(?:-flow)?\/config|source-map-support\/register|@swc-node\/register(?:\/esm-register)?|@babel\/register|@oxc-node\/core\/register|esbuild-register|reflect-metadata)$/;
const LOADS = /(?<!\S)(?:-r|--require|--import|--loader|--experimental-loader)[\s=]+(\S+)/g;
const PLAIN_FOLDER =
  /^(?:\$PATH|\/(?:usr|bin|sbin|opt|snap|nix)(?:\/[\w.+-]+)*|(?:\/[\w.@+-]+)*\/(?:node_modules\/\.bin|\.venv\/bin|venv\/bin|\.cargo\/bin|\.local\/bin|go\/bin|\.bun\/bin|\.deno\/bin|\.pyenv\/(?:shims|bin)|\.nvm\/versions\/node\/v[\d.]+\/bin))$/;

/** Flags that are carried into programs, and what in them runs another one or other rules. */
const FLAGS: readonly [names: RegExp, runs: RegExp][] = [
  [
    /^(?:(?:CARGO_ENCODED_)?RUST(?:DOC)?FLAGS|(?:CGO_)?(?:C|CXX|CPP|LD|F)FLAGS)$/,
    /linker[= ]|-fplugin|-wrapper|-specs|-fuse-ld=\S*\/|codegen-backend|(?:^|\s)-B/,
  ],
  [
    /^(?:GRADLE|MAVEN|JAVA|SBT|ANT|JVM|LEIN_JVM)_OPTS$/,
    /-javaagent|-agent(?:lib|path)|-Xbootclasspath|-XX:On(?:OutOfMemory)?Error|maven\.repo\.local=(?:\/|~|\.\.)/,
  ],
  [/^PYTEST_ADDOPTS$/, /(?:^|\s)(?:-p\s*(?!\s|no:)|-c\b|--basetemp|--rootdir|--confcutdir)/],
  [/^LESS$/, /[!|]/],
  [/^(?:(?:GNU)?MAKEFLAGS|MFLAGS)$/, /--(?:eval|file|makefile|directory|include)|(?:^|\s)-[a-zA-Z]*[EfCI]|SHELL/],
];

const REGISTRY = /^(?:GOPROXY|PIP_(?:EXTRA_)?INDEX_URL|UV_(?:DEFAULT_)?INDEX(?:_URL)?|npm_config_registry)$/i;

/** A pager that is named in the command gets what another program prints: anything but a program as it is, is code. */
export function judgePager(program: Text, spot: Spot): void {
  if (program.type === "known" && HARMLESS_PROGRAM.test(program.text)) return;
  const isLine = program.type !== "known" || /[\s;|&]/.test(program.text.trim());
  if (isLine) noteEffect(spot, { kind: "code", what: `makes a program show its text with ${describeText(program)}` });
  noteEffect(spot, { kind: "runs", what: `shows text with ${describeText(program)}` });
  spot.line.engine.runSource(program, { ...spot, input: OUTPUT });
}

const HISTORY = /^HIST(?:FILE|SIZE|FILESIZE|IGNORE)$/;

export const isOurSetting = (name: string): boolean => OURS.test(name) || HISTORY.test(name);

const PROXY = /^(?:https?|all)_proxy$/i;

/** Where programs write what they make. */
const WRITTEN = /^(?:GOBIN|CARGO_TARGET_DIR|COVERAGE_FILE|PYTHONPYCACHEPREFIX|SSLKEYLOGFILE)$/;
/** Where they keep what they have, by words of the name. */
const KEPT =
  /(?:^|_)(?:GO|GOMOD)?(?:CACHE|CACHE_?(?:DIR(?:ECTORY)?|FOLDER|PATH|HOME)|(?:LOGS?|BIN|TOOL|STORE|TARGET|INSTALL|GLOBAL|TMP|TEMP|COVER(?:AGE)?|OUT(?:PUT)?|REPORTS?|VENDOR|BROWSERS)_?(?:DIR(?:ECTORY)?|FOLDER|PATH|HOME|ROOT|FILE))$|^(?:GOPATH|GO(?:TMP|COVER)DIR|TMP|TEMP|TMPDIR|PNPM_HOME|BUN_INSTALL|DENO_DIR|(?:TF|ASDF)_DATA_DIR|TOX_WORK_DIR|PIPX_HOME|PIP_LOG|UV_PROJECT_ENVIRONMENT|POETRY_VIRTUALENVS_PATH|RUSTUP_HOME|S?CCACHE_DIR|BUNDLE_PATH|GEM_HOME|COMPOSER_HOME|NODE_(?:V8_COVERAGE|REDIRECT_WARNINGS|REPL_HISTORY)|LLVM_PROFILE_FILE|GCOV_PREFIX|PRE_COMMIT_HOME|PYTEST_DEBUG_TEMPROOT|NUGET_PACKAGES|DOTNET_CLI_HOME|XDG_(?:CACHE|DATA|STATE)_HOME)$/i;
/** Where they would keep it anyway. */
const USUALLY_KEPT = /^\/(?:\.cache(?:\/|$)|\.npm$|go$|go\/pkg\/mod$|\.local\/(?:share|state)$)/;

function keepsIn(value: Text, spot: Spot): void {
  const { home } = spot.line.place;
  const text = startOf(value);
  const isUsual = value.type === "known" && text.startsWith(`${home}/`) && USUALLY_KEPT.test(text.slice(home.length));
  if (/^(?:\/|~|\.\.(?:\/|$))/.test(text) && !isUsual) writes(spot, value);
}

/** Where programs look for settings of the person, which name other programs to run. */
const SETTINGS =
  /^(?:HOME|XDG_CONFIG_HOME|ZDOTDIR|CARGO_HOME|GRADLE_USER_HOME|GOENV|GOROOT|GOWORK|JAVA_HOME|DOTNET_ROOT|DOCKER_CONFIG|PSQLRC|COMPOSE_FILE|CMAKE_TOOLCHAIN_FILE|CMAKE_PROJECT_TOP_LEVEL_INCLUDES)$/;

function takesSettings(value: Text, spot: Spot): void {
  if (textOf(value) === spot.line.place.home) return;
  for (const path of absolutePaths(value, spot))
    noteEffect(spot, { kind: "runs", what: `makes programs take their settings from ${describeText(path)}`, path });
}

/** Modules in the worktree are what is worked on. */
function runsFrom(folder: Text, spot: Spot): void {
  if (!/^(?:\/|\.\.)/.test(textOf(folder))) return;
  for (const path of absolutePaths(folder, spot))
    noteEffect(spot, { kind: "runs", what: `loads modules from ${describeText(path)}`, path });
}

/** Sets a variable in whatever way; programs that are started from then on get it, where it is exported. */
export function giveVariable(written: string, choices: readonly Text[], spot: Spot): void {
  setVariable(spot.shell, written, choices);
  judgeExported(written.split("[", 1)[0] ?? "", choices, spot);
}

export function judgeExported(name: string, choices: readonly Text[], spot: Spot): void {
  const { exported } = spot.shell;
  if (exported.has(ALL_THAT_IS_SET)) exported.set(name, true);
  if (exported.has(name)) for (const value of choices) judgeAssignment(name, value, spot);
}

const withoutLoaders = (options: string): string =>
  options.replace(LOADS, (all: string, module: string) => (LOADER.test(module) ? "" : all));

/** What an assignment changes about programs that are started with it. */
export function judgeAssignment(name: string, value: Text, spot: Spot): void {
  const shown = `${name}=${describeText(value)}`;
  const refuse = (what: string, instead?: string) => noteEffect(spot, { kind: "code", what, instead });
  const runs = FLAGS.find(([names]) => names.test(name))?.[1];
  if (runs && (value.type !== "known" || runs.test(value.text))) refuse(`makes a program run another one: ${shown}`);
  if (isOurSetting(name))
    noteEffect(spot, {
      kind: "ours",
      what: `changes a setting of an agent, of prloom, or of what is recorded: ${shown}`,
    });
  else if (name === "PATH") judgePath(value, spot);
  else if (name === "NODE_OPTIONS") {
    if (value.type !== "known" || NODE_LOADS.test(withoutLoaders(value.text))) refuse(`makes Node load code: ${shown}`);
    else noteOutputs("node", value.text.split(/\s+/).map(known), spot);
  } else if (name === "GOFLAGS") {
    if (value.type !== "known" || /exec|vettool|overlay|-ext|-C\b/.test(value.text))
      refuse(`makes go run a program: ${shown}`);
    else noteOutputs("go", value.text.split(/\s+/).map(known), spot);
  } else if (WRITTEN.test(name)) writes(spot, value);
  else if (KEPT.test(name)) keepsIn(value, spot);
  else if (SETTINGS.test(name)) takesSettings(value, spot);
  else if (name === "PYTHONPATH") for (const one of textOf(value).split(":")) runsFrom(known(one), spot);
  else if (name === "DOCKER_HOST" || name === "DOCKER_CONTEXT") {
    if (!/^(?:unix:|default$)/.test(textOf(value)) && !isLoopback(textOf(value)))
      noteEffect(spot, { kind: "sends", what: `makes docker work on another machine: ${shown}` });
  } else if (REGISTRY.test(name)) {
    if (/^http:/i.test(textOf(value)) && !isLoopback(textOf(value)))
      refuse(`installs what anyone on the way can change: ${shown}`);
  } else if (PROGRAMS.test(name)) {
    if (name.endsWith("PAGER")) judgePager(value, spot);
    else if (value.type !== "known" || !HARMLESS_PROGRAM.test(value.text)) spot.line.engine.runSource(value, spot);
  } else if (LOADS_CODE.test(name)) refuse(`changes what programs load: ${shown}`, `Run the command without ${name}.`);
  else if (name.startsWith("GIT_TRACE") && textOf(value).startsWith("/")) writes(spot, value);
  else if (name.startsWith("GIT_") && !GIT_HARMLESS.test(name)) refuse(`changes what git runs or works on: ${shown}`);
  else if (CARRIED[name] !== undefined)
    refuse(`gives options to ${CARRIED[name]}: ${shown}`, "Give the options in the command itself.");
  else if (PROXY.test(name) && !isLoopback(textOf(value)))
    noteUnknown(spot, `sends what is fetched through ${describeText(value)}`);
}

/** Folders of the system and of package managers may come before what is there; others bring other programs. */
function judgePath(value: Text, spot: Spot): void {
  const { unpacked, unpackedInto = [], place } = spot.line;
  const { folder } = place;
  const isFetched = (one: string) => unpacked && unpackedInto.some((into) => `${one}/`.startsWith(into));
  const isPlain =
    value.type === "known" &&
    !value.text.split(":").some(isFetched) &&
    value.text
      .split(":")
      .every(
        (one) =>
          PLAIN_FOLDER.test(one) ||
          one === `${folder}/bin` ||
          PLAIN_FOLDER.test(`${folder}/${one.replace(/^\.\//, "")}`),
      );
  if (!isPlain)
    noteEffect(spot, {
      kind: "code",
      what: `changes which programs are run: PATH=${describeText(value)}`,
      instead: "Call the program by its path.",
    });
}
