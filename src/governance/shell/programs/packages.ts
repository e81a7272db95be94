import type { Behaviour } from "../call.ts";
import { type OptionRules, readArguments } from "../options.ts";
import { inFolder, isLoopback, noteSecrets, reads, unpacksInto, writes } from "../paths.ts";
import { noteEffect, type Spot } from "../state/state.ts";
import { cameFrom, FROM, OUTPUT } from "../values/flow.ts";
import { joinTexts, known, type Text, textOf } from "../values/text.ts";
import { builds, noteElsewhere } from "./builds.ts";
import { isAgentOrOurs } from "./own-programs.ts";
import { runsTool } from "./shells.ts";

const RUNS = new Set(["exec", "x", "dlx"]);
const RUNS_BY_NAME = new Set(["run", "run-script"]);
const GLOBAL = new Set(["-g", "--global", "--location=global"]);
/** Commands of yarn and pnpm that programs are called like, too. */
const OWN = new Set("install link test env patch import init".split(" "));
const LOOKS = new Set(
  "ls list la ll view info show outdated why explain root bin prefix whoami ping search help fund doctor query sbom".split(
    " ",
  ),
);
/** `npm owner ls`, and `npm run` without a name. */
const LOOKS_BEHIND =
  /^(?:(?:dist-tag|owner|access|team|org) (?:ls|list)|access ls-\S+|(?:run|run-script) |get \S+|pkg get|licenses (?:ls|list)|store path|workspaces (?:info|list))$/;
const PUBLISHES = new Set(
  "publish unpublish deprecate owner access token login adduser logout star team org profile dist-tag hook".split(" "),
);

const isRehearsal = (args: readonly Text[]): boolean => args.some((arg) => textOf(arg) === "--dry-run");
const PACKAGE_RULES: OptionRules = {
  valued:
    "C prefix w workspace filter cwd dir registry userconfig globalconfig global-folder cache-folder modules-folder use-yarnrc store-dir",
};
const BEFORE_COMMAND: OptionRules = { ...PACKAGE_RULES, stopsAtOperand: true };

export const isUnsafeRegistry = (where: string): boolean => /^http:/i.test(where) && !isLoopback(where);

/** npm, yarn, pnpm. */
export const packages: Behaviour = (call) => {
  const { name, args, spot } = call;
  const given = readArguments(args, BEFORE_COMMAND);
  const [sub] = given.operands;
  const rest = given.operands.slice(1);
  const word = textOf(sub ?? known(""));
  const end = args.findIndex((arg) => textOf(arg) === "--");
  // npm takes its options behind the command as well.
  const options = RUNS.has(word) ? given : readArguments(end < 0 ? args : args.slice(0, end), PACKAGE_RULES);
  const inside = inFolder(spot, options.values("C", "prefix", "cwd", "dir"));
  const isGlobal = args.some((arg) => GLOBAL.has(textOf(arg)));
  if (RUNS.has(word)) return runsTool({ ...call, args: rest.filter((arg) => textOf(arg) !== "--"), spot: inside });
  if (word === "explore" && end >= 0) return spot.line.engine.runWords(args.slice(end + 1), inside);
  if (word === "workspaces") spot.line.engine.runCarried(rest, inside);
  for (const script of scriptsSet(word, rest)) spot.line.engine.runSource(script, inside);
  if (/^(?:config|c|get)$/.test(word) && rest.some((one) => /_auth|password|token/i.test(textOf(one))))
    reads(spot, known(`${spot.line.place.home}/.npmrc`));
  const first = textOf(rest[0] ?? known(""));
  const isConfig = word === "config" || (word === "c" && /^p?npm$/.test(name));
  const isAsking = LOOKS.has(word) || LOOKS_BEHIND.test(`${word} ${first}`);
  if (PUBLISHES.has(word) && !isAsking && !isRehearsal(args))
    noteEffect(spot, { kind: "sends", what: `${name} ${word} changes something in a package registry` });
  else if ((isGlobal && !isAsking) || word === "global")
    noteEffect(spot, {
      kind: "ours",
      what: `changes programs of the whole machine with ${name} ${word}`,
      instead: `Install it in the project: ${name} install <package>`,
    });
  else if (word === "set" ? rest.length > 0 : isConfig && !/^(?:get|list|ls|)$/.test(first))
    noteEffect(spot, { kind: "code", what: `changes settings of ${name}` });
  else if (
    args.some((arg) =>
      /^--(?:(?:script-)?shell|node-options|git|editor|(?:user|global)config)(?:=|$)/.test(textOf(arg)),
    )
  )
    noteEffect(spot, { kind: "code", what: `makes ${name} run another program` });
  else if (options.values("registry").some((where) => isUnsafeRegistry(textOf(where))))
    noteEffect(spot, { kind: "code", what: `installs what anyone on the way can change, with ${name}` });
  else if (isConfig || isAsking || (word === "version" && rest.length === 0)) return OUTPUT;
  else if (word === "audit" && !args.some((arg) => /^(?:fix|--fix)$/.test(textOf(arg)))) return OUTPUT;
  else {
    builds({ ...call, spot: inside });
    // yarn and pnpm take the name of a script or of a program: what a program of that name would do counts.
    const words = RUNS_BY_NAME.has(word) ? readArguments(rest, { stopsAtOperand: true }).operands : given.operands;
    const called = textOf(words[0] ?? known(""));
    if (name === "npm" ? isAgentOrOurs(called) : !OWN.has(called)) spot.line.engine.runCarried(words, inside, 1);
  }
  return OUTPUT;
};

/** Scripts that stand in the command: the same line may run them. */
function scriptsSet(word: string, [first, ...rest]: readonly Text[]): Text[] {
  if (word === "set-script") return rest.slice(-1);
  if (word !== "pkg" || textOf(first ?? known("")) !== "set") return [];
  return rest.flatMap((one) => /^scripts\.[^=]*=(.*)$/s.exec(textOf(one))?.[1] ?? []).map(known);
}

const CARGO_OWN =
  /^(?:|build|b|check|c|clean|doc|d|new|init|add|remove|run|r|test|t|bench|update|search|fmt|clippy|tree|metadata|fix|generate-lockfile|fetch|vendor|package|nextest)$/;

/** The folders in which a program looks for its files, from where it is up to the top of the worktree. */
function hasAbove(names: readonly string[], { shell, line: { place } }: Spot): boolean {
  return shell.folders.some((folder) => {
    for (let at = folder; at?.startsWith(place.folder); at = at.slice(0, at.lastIndexOf("/")))
      if (names.some((name) => place.look(`${at}/${name}`))) return true;
    return !folder?.startsWith(place.folder);
  });
}

/** These name the compiler, which cargo asks about itself whatever it does, and programs around it: the repository would run them. */
const isConfigured = (spot: Spot): boolean =>
  hasAbove(["rust-toolchain.toml", "rust-toolchain"], spot) ||
  (hasAbove([".cargo"], spot) && hasAbove([".cargo/config.toml", ".cargo/config"], spot));

/** Without a lock file, cargo writes one to tell what a package needs. */
const isLocked = (spot: Spot): boolean => !hasAbove(["Cargo.toml"], spot) || hasAbove(["Cargo.lock"], spot);

export const cargo: Behaviour = (call) => {
  const { args, spot } = call;
  const words = args.filter((arg) => !/^\+/.test(textOf(arg)));
  const given = readArguments(words, {
    valued: "root path config Z manifest-path C color git branch tag rev target-dir p package bin",
  });
  const [sub] = given.operands;
  const word = textOf(sub ?? known(""));
  for (const setting of given.values("config"))
    if (/runner|rustc|wrapper|linker|alias|credential/.test(textOf(setting)))
      noteEffect(spot, { kind: "code", what: "makes cargo run another program" });
    else noteElsewhere(setting, spot);
  for (const arg of args) if (/^\+.*\//.test(textOf(arg))) noteElsewhere(known(textOf(arg).slice(1)), spot);
  if (/^(?:install|uninstall|binstall)$/.test(word) && !given.has("list")) {
    const [root] = given.values("root");
    const isOurs = given.operands.some((one) => /^prloom\b/.test(textOf(one)));
    if (root) writes(spot, root);
    if (!root || isOurs)
      noteEffect(spot, {
        kind: "ours",
        what: `changes programs of the person with cargo ${word}`,
        instead: "Build it in the worktree: cargo build",
      });
  } else if (/^(?:publish|yank|login|owner|logout)$/.test(word) && !isRehearsal(args))
    noteEffect(spot, { kind: "sends", what: `cargo ${word} changes something in a registry` });
  else {
    const manifests = given.values("manifest-path").map((path) => joinTexts([path, known("/..")]));
    const inside = inFolder(spot, [...given.values("C"), ...manifests]);
    const isSet =
      given.values("config", "Z").length > 0 || isConfigured(spot) || (inside !== spot && isConfigured(inside));
    if (/^(?:tree|metadata)$/.test(word) && !isSet && (given.has("locked", "frozen", "no-deps") || isLocked(inside)))
      return OUTPUT;
    builds({ ...call, spot: inside });
    // Commands that others added may run what they are given, as `cargo watch -s` does.
    if (!CARGO_OWN.test(word)) spot.line.engine.runCarried(sub ? args.slice(args.indexOf(sub) + 1) : [], spot);
  }
  return OUTPUT;
};

/** Where what is fetched goes. */
const foundFolders = (args: readonly Text[]): readonly Text[] =>
  readArguments(args, { valued: "D dir O output" }).values("D", "dir", "O", "output");

function savesFiles(named: readonly Text[], spot: Spot): void {
  for (const folder of named) writes(spot, folder);
  spot.line.unpacked = cameFrom(FROM.network);
  for (const folder of named.length > 0 ? named : [known(".")]) unpacksInto(spot, folder);
}

/** `gh api` asks with GET, unless it has fields; GraphQL asks with fields, and changes something by a mutation. */
function asksApi(args: readonly Text[]): boolean {
  const given = readArguments(args, {
    valued: "X method f raw-field F field H header input q jq t template p preview cache hostname",
  });
  const fields = given.values("f", "raw-field", "F", "field");
  if (given.has("input") || fields.some((one) => one.type !== "known" || /=@/.test(one.text))) return false;
  const methods = given.values("X", "method").map(textOf);
  if (/^\/?graphql$/.test(textOf(given.operands[1] ?? known(""))))
    return (
      methods.length === 0 &&
      fields.some((one) => /^query=\s*(?:query\b|\{)/.test(textOf(one))) &&
      !fields.some((one) => /\bmutation\b/.test(textOf(one)))
    );
  return methods.length > 0 ? methods.every((one) => /^(?:GET|HEAD)$/i.test(one)) : fields.length === 0;
}

/** gh, glab, twine and their like act for the person elsewhere. */
export const forge: Behaviour = ({ name, args, spot }) => {
  const words = args.map(textOf).filter((word) => !word.startsWith("-"));
  const [group = "", action = ""] = words;
  const isRead =
    /^(?:view|list|status|diff|checks|browse|watch)$/.test(action) ||
    (/^(?:status|search|version|help|auth)$/.test(group) && !/^(?:login|logout|token|refresh|setup-git)$/.test(action));
  if (group === "auth" && args.some((arg) => /^(?:-t|--show-token)$/.test(textOf(arg))))
    reads(spot, known(`${spot.line.place.home}/.config/gh`));
  if (action === "download") savesFiles(foundFolders(args), spot);
  const apiReads = group === "api" && asksApi(args);
  if (action === "download") noteEffect(spot, { kind: "runs", what: `${name} saves files here` });
  else if (isRead || apiReads || words.length === 0)
    noteEffect(spot, { kind: "fetches", what: `${name} asks another machine` });
  else
    noteEffect(spot, {
      kind: "sends",
      what: `acts for the person elsewhere: ${name} ${group} ${action}`,
      instead: "Say in your answer what should be done there.",
    });
  return OUTPUT;
};

/** `composer exec` and `rustup run` start a program, and build or install with all else. */
export const startsBehind =
  (word: string, skip = 0): Behaviour =>
  (call) => {
    const [first, ...rest] = readArguments(call.args, { valued: "d working-dir", stopsAtOperand: true }).operands;
    if (textOf(first ?? known("")) !== word) return builds(call);
    return runsTool({ ...call, args: readArguments(rest, { stopsAtOperand: true }).operands.slice(skip) });
  };

/** `uv tool run` is `uvx`. */
export const uv: Behaviour = (call) => {
  const [runs] = /^(?:tool )?run(?= |$)/.exec(call.args.slice(0, 2).map(textOf).join(" ")) ?? [];
  return runs ? runsTool({ ...call, args: call.args.slice(runs.split(" ").length) }) : installs(call);
};

const INSTALLS_INTO = "t target prefix root d dest src install-dir n bindir w wheel-dir".split(" ");

const ASKS_OF_PACKAGES =
  /^(?:(?:list|show|freeze|check|help|search|index|inspect|debug)(?: |$)|(?:config (?:list|get|debug)|cache (?:list|dir|info)|pip (?:list|show|freeze|check|tree)|(?:python|tool) (?:list|dir)|python find|environment ?)$)/;

/** pip and its like. */
export const installs: Behaviour = (call) => {
  const { name, args, spot } = call;
  const given = readArguments(args, {
    valued:
      "r requirement c constraint t target prefix root e editable i index-url extra-index-url python d dest src directory project install-dir n bindir w wheel-dir source",
  });
  for (const folder of given.values(...INSTALLS_INTO)) writes(spot, folder);
  // Of what is not a requirement, they tell.
  noteSecrets(given.values("r", "requirement", "c", "constraint"), spot);
  const [sub] = given.operands;
  const words = [sub, given.operands[1]].map((one) => textOf(one ?? known(""))).join(" ");
  if (ASKS_OF_PACKAGES.test(words)) return OUTPUT;
  if (given.values("i", "index-url", "extra-index-url", "source").some((where) => isUnsafeRegistry(textOf(where))))
    noteEffect(spot, { kind: "code", what: `installs what anyone on the way can change, with ${name}` });
  if (textOf(sub ?? known("")) === "config") noteEffect(spot, { kind: "code", what: `changes settings of ${name}` });
  if (given.has("break-system-packages", "user", "system"))
    noteEffect(spot, { kind: "ours", what: `changes programs of the whole machine with ${name}` });
  return builds({ ...call, spot: inFolder(spot, given.values("directory", "project")) });
};
