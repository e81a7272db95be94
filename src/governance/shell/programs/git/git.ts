import type { Behaviour } from "../../call.ts";
import { type Arguments, readArguments } from "../../options.ts";
import { absolutePaths, inFolder, reads, writes } from "../../paths.ts";
import { noteEffect, noteUnknown, type Spot } from "../../state/state.ts";
import { type Flow, FROM, literal, OUTPUT } from "../../values/flow.ts";
import { describeText, isPattern, known, type Text, textOf } from "../../values/text.ts";
import { changesIt, changesTree, pathspec } from "./changes.ts";
import {
  branch,
  checkout,
  cleanTree,
  prunes,
  push,
  readTree,
  reflog,
  reset,
  restore,
  rewrites,
  stash,
  writesRefs,
} from "./losing.ts";
import { namesPrinted } from "./printed-names.ts";
import { bundle, config, formatPatch, lfs, maintenance, remote, worktree } from "./repository.ts";
import { useSetting } from "./settings.ts";
import {
  adds,
  apply,
  applyMails,
  archive,
  bisect,
  commit,
  fetches,
  initRepository,
  packs,
  readsMessage,
  rebase,
  removes,
  submodule,
} from "./working.ts";

const GLOBAL_VALUED = "C c git-dir work-tree namespace exec-path super-prefix config-env list-cmds attr-source";

export const judgeGit: Behaviour = (call) => {
  const { spot } = call;
  const given = readArguments(call.args, { valued: GLOBAL_VALUED, stopsAtOperand: true });
  const [name] = given.operands;
  const args = given.operands.slice(1);
  const aliases = given.options.length > 0 ? lookAtOptions(given, spot) : undefined;
  const inside = inFolder(spot, given.values("C"));
  if (inside !== spot)
    for (const folder of inside.shell.folders)
      reads(inside, folder === undefined ? { type: "unknown", why: "the folder of git" } : known(folder));
  if (!name) return OUTPUT;
  if (name.type !== "known") {
    noteUnknown(spot, `runs a command of git that cannot be told: ${describeText(name)}`);
    return OUTPUT;
  }
  // git has no aliases for its own commands.
  const alias = isGitCommand(name.text) ? undefined : aliases?.get(name.text);
  if (alias !== undefined) return runAlias(alias, args, inside);
  if (asksForHelp(name.text, args)) return OUTPUT;
  if (!isOwnRepository(inside)) noteEffect(inside, { kind: "runs", what: "uses the settings of another repository" });
  return (COMMANDS.get(name.text) ?? unknownCommand)({ name: name.text, args, spot: inside });
};

/** Settings and other repositories, before the name of the command; gives the aliases that are among them. */
function lookAtOptions(given: Arguments, spot: Spot): ReadonlyMap<string, string> {
  const aliases = new Map<string, string>();
  const command = textOf(given.operands[0] ?? known(""));
  for (const setting of given.values("c", "config-env")) useSetting(setting, { spot, aliases, command });
  for (const option of ["exec-path", "git-dir", "work-tree"] as const)
    for (const value of given.values(option))
      noteEffect(spot, { kind: "code", what: `turns git to ${describeText(value)}` });
  return aliases;
}

export const isGitCommand = (name: string): boolean => COMMANDS.has(name) || OTHER_COMMANDS.has(name);

/** `--help` is help only where it is not the value of another option, nor an argument of a command to run. */
function asksForHelp(name: string, args: readonly Text[]): boolean {
  if (!args.some((arg) => textOf(arg) === "--help" || textOf(arg) === "-h")) return false;
  const words = args.map(textOf);
  if (words[0] === "--help" || (words[0] === "-h" && words.length === 1)) return true;
  const before = words.at(-2) ?? "-";
  return (
    words.at(-1) === "--help" &&
    !words.includes("--") &&
    !/^(?:bisect|submodule|rebase|filter-branch)$/.test(name) &&
    (!before.startsWith("-") || /^--(?:hard|soft|mixed|force|all)$/.test(before))
  );
}

function runAlias(alias: string, args: readonly Text[], spot: Spot): Flow {
  if (alias.startsWith("!")) {
    const tail = args.every((arg) => arg.type === "known")
      ? args.map((arg) => ` '${textOf(arg).replaceAll("'", "'\\''")}'`).join("")
      : "";
    return spot.line.engine.runSource(known(alias.slice(1) + tail), spot);
  }
  return judgeGit({ name: "git", args: [...alias.split(/\s+/).map(known), ...args], spot });
}

/** A repository other than the worktree's may have settings that an agent wrote: git runs programs from there. */
function isOwnRepository({ line, shell }: Spot): boolean {
  const { folder: root, look } = line.place;
  return shell.folders.every((folder) => {
    if (folder === root) return true;
    if (folder === undefined || isPattern(folder) || !folder.startsWith(`${root}/`)) return false;
    for (let at = folder; at.length > root.length; at = at.slice(0, at.lastIndexOf("/")))
      if (look(`${at}/.git`) !== undefined || (look(`${at}/HEAD`) === "file" && look(`${at}/objects`) === "folder"))
        return false;
    return true;
  });
}

const looks: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    valued: "o output S G O format contents ignore-revs-file",
    long: "ext-diff textconv filters open-files-in-pager no-index lost-found",
  });
  for (const path of given.values("output")) writes(spot, path);
  for (const path of given.values("contents", "ignore-revs-file")) reads(spot, path);
  if (name === "grep") for (const file of readArguments(args, { valued: "f e" }).values("f")) reads(spot, file);
  if (
    given.has("ext-diff", "textconv", "filters", "open-files-in-pager") ||
    args.some((arg) => textOf(arg).startsWith("-O") && (name === "grep" || textOf(arg).length > 2))
  )
    noteEffect(spot, { kind: "code", what: "makes git run another program" });
  const [path] = given.values("open-files-in-pager");
  if (path) spot.line.engine.runSource(path, spot);
  if ((name === "hash-object" && given.has("w")) || given.has("lost-found")) changesIt({ name, args, spot });
  if (name === "interpret-trailers" && given.has("in-place")) for (const file of given.operands) writes(spot, file);
  for (const file of filesOf({ name, args, spot }, given)) reads(spot, pathspec(file, spot));
  // A repository that is known to be the worktree's has its folder, and names of its files.
  if (!isOwnRepository(spot)) return OUTPUT;
  if (given.has("show-toplevel") && args.length === 1) return literal(`${spot.line.place.folder}\n`);
  const names = namesPrinted({ name, args, spot });
  return names ? { from: FROM.program | FROM.files, names } : OUTPUT;
};

const TAKES_FILES = new Set("blame annotate interpret-trailers hash-object".split(" "));

/** Arguments that are names of files, in the worktree or in a commit. */
function filesOf({ name, args, spot }: Parameters<Behaviour>[0], given: Arguments): Text[] {
  const end = args.findIndex((arg) => textOf(arg) === "--");
  const paths = end < 0 ? [] : args.slice(end + 1);
  const isFiles = given.has("no-index") || TAKES_FILES.has(name);
  // The first operand of `git grep` is what it looks for.
  for (const operand of given.operands.slice(name === "grep" ? 1 : 0)) {
    const text = textOf(operand);
    const inCommit = /^[^:/]*:([^:].*)$/.exec(text)?.[1];
    if (inCommit !== undefined && operand.type === "known") paths.push(known(inCommit.replace(/^\d:/, "")));
    else if (isFiles || text.startsWith("/") || text.startsWith("..")) paths.push(operand);
    else if (SHOWS_CONTENT.has(name) && isSecretFile(operand, spot)) paths.push(operand);
  }
  return paths;
}

const SHOWS_CONTENT = new Set("log diff diff-files diff-index diff-tree show whatchanged grep".split(" "));

/** Without `--`, git takes for a path what is there. */
const isSecretFile = (operand: Text, spot: Spot): boolean =>
  absolutePaths(pathspec(operand, spot), spot).some(
    (path) => spot.line.place.isSecret(path) && (path.type === "glob" || spot.line.place.look(textOf(path)) === "file"),
  );

/** Commands of git that are denied because nothing is known about them. */
const OTHER_COMMANDS = new Set(
  "checkout-index daemon difftool mergetool fast-export fsck-objects http-fetch http-backend instaweb merge-file merge-index merge-one-file mktag pack-redundant prune-packed receive-pack replay shell show-index subtree upload-archive upload-pack unpack-file update-server-info credential credential-cache credential-store backfill bugreport diagnose hook gui for-each-repo quiltimport cvsserver archimport cvsimport".split(
    " ",
  ),
);

const unknownCommand: Behaviour = ({ name, spot }) => {
  noteUnknown(spot, `runs git ${name}, which may be anything`);
  return OUTPUT;
};

/** Options with which `git tag` and `git branch` list, whatever else is given, and those that only say how. */
const LISTS = /^(?:-l|--list|--(?:no-)?contains|--(?:no-)?merged|--points-at)(?:=|$)/;
const SHOWS = /^(?:-n\d*|--(?:sort|format|column|color|ignore-case|omit-empty)(?:=.*)?)$/;
const SHOWS_BRANCHES = /^(?:-a|--all|-r|--remotes?|-vv?|--verbose|--show-current|--abbrev(?:=.*)?)$/;
/** Options of these that delete or move something. */
const NOT_LISTS =
  /^(?:-(?![^dDfmMcCu]*$)[a-zA-Z]+|--delete|--force|--move|--copy|--edit-description|--unset-upstream|--set-upstream.*)$/;
const listsOr =
  (otherwise: Behaviour, shows: RegExp): Behaviour =>
  (call) => {
    const has = (pattern: RegExp) => call.args.some((arg) => arg.type !== "known" || pattern.test(arg.text));
    const isShown = call.args.every((arg) => SHOWS.test(textOf(arg)) || shows.test(textOf(arg)));
    return isShown || (has(LISTS) && !has(NOT_LISTS)) ? OUTPUT : otherwise(call);
  };

const subcommand =
  (readsOnly: RegExp): Behaviour =>
  (call) =>
    readsOnly.test(textOf(call.args[0] ?? known(""))) ? OUTPUT : changesIt(call);

const notes = subcommand(/^(?:|list|show|get-ref)$/);

const some = (names: string, behaviour: Behaviour): Record<string, Behaviour> =>
  Object.fromEntries(names.split(" ").map((name) => [name, behaviour]));

const COMMANDS: ReadonlyMap<string, Behaviour> = new Map(
  Object.entries({
    ...some(
      "status log diff show blame annotate shortlog describe rev-parse rev-list name-rev merge-base cat-file check-ignore check-attr check-mailmap check-ref-format cherry for-each-ref grep count-objects fsck verify-tag verify-commit verify-pack help version whatchanged diff-tree diff-files diff-index range-diff hash-object show-ref show-branch var ls-files ls-tree get-tar-commit-id merge-tree patch-id stripspace column interpret-trailers fmt-merge-msg request-pull",
      looks,
    ),
    ...some("add stage", adds),
    ...some("pack-objects index-pack repack", packs),
    ...some("merge cherry-pick revert sparse-checkout", changesTree),
    ...some("pack-refs mktree write-tree commit-tree update-index rerere unpack-objects citool", changesIt),
    ...some("filter-branch filter-repo fast-import", rewrites),
    ...some("fetch pull clone ls-remote", fetches),
    ...some("push send-pack send-email http-push svn p4 imap-send", push),
    ...some("prune gc", prunes),
    ...some("rm mv", removes),
    ...some("update-ref symbolic-ref", writesRefs),
    ...some("checkout switch", checkout),
    notes: (call) => {
      readsMessage(call);
      return notes(call);
    },
    lfs,
    bundle,
    maintenance,
    "read-tree": readTree,
    "format-patch": formatPatch,
    branch: listsOr(branch, SHOWS_BRANCHES),
    tag: (call) =>
      /^(?:-v|--verify)$/.test(textOf(call.args[0] ?? known(""))) ? OUTPUT : listsOr(branch, /(?!)/)(call),
    replace: listsOr(rewrites, /(?!)/),
    reset,
    clean: cleanTree,
    restore,
    stash: (call) =>
      textOf(call.args[0] ?? known("")) === "show" ? looks({ ...call, args: call.args.slice(1) }) : stash(call),
    reflog,
    config,
    remote,
    worktree,
    rebase,
    bisect,
    submodule,
    apply,
    am: applyMails,
    init: initRepository,
    commit,
    archive,
  }),
);
