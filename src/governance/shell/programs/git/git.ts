import type { Behaviour } from "../../call.ts";
import { type Flow, OUTPUT } from "../../flow.ts";
import { readArguments } from "../../options.ts";
import { absolutePaths, reads, writes } from "../../paths.ts";
import { copyShell, note, noteUnknown, type Spot } from "../../state.ts";
import { describe, known, type Text, textOf } from "../../text.ts";
import { changesIt } from "./changes.ts";
import {
  branch,
  checkout,
  clean,
  prunes,
  push,
  reflog,
  reset,
  restore,
  rewrites,
  stash,
  writesRefs,
} from "./losing.ts";
import { config, remote, worktree } from "./repository.ts";
import { useSetting } from "./settings.ts";
import { apply, archive, bisect, commit, fetches, init, rebase, removes, submodule } from "./working.ts";

const GLOBAL_VALUED = "C c git-dir work-tree namespace exec-path super-prefix config-env list-cmds attr-source";

export const git: Behaviour = (call) => {
  const { spot } = call;
  const given = readArguments(call.args, { valued: GLOBAL_VALUED, stopsAtOperand: true });
  const [name, ...args] = given.operands;
  const aliases = new Map<string, string>();
  for (const setting of given.values("c", "config-env"))
    useSetting(setting, { spot, aliases, command: textOf(name ?? known("")) });
  for (const option of ["exec-path", "git-dir", "work-tree"] as const)
    for (const value of given.values(option)) note(spot, { kind: "code", what: `turns git to ${describe(value)}` });
  const shell = copyShell(spot.shell);
  for (const folder of given.values("C"))
    shell.folders = absolutePaths(folder, { ...spot, shell }).map((path) =>
      path.type === "known" ? path.text : undefined,
    );
  const inside = { ...spot, shell };
  if (given.values("C").length > 0)
    for (const folder of shell.folders)
      reads(inside, folder === undefined ? { type: "unknown", why: "the folder of git" } : known(folder));
  if (!name) return OUTPUT;
  if (name.type !== "known") {
    noteUnknown(spot, `runs a command of git that cannot be told: ${describe(name)}`);
    return OUTPUT;
  }
  const alias = aliases.get(name.text);
  if (alias !== undefined) return runAlias(alias, args, inside);
  if (args.some((arg) => /^(?:--help|-h)$/.test(textOf(arg))) && helpComesFirst(args)) return OUTPUT;
  return (COMMANDS[name.text] ?? unknownCommand)({ name: name.text, args, spot: inside });
};

/** `--help` is help only where it is not the value of another option. */
function helpComesFirst(args: readonly Text[]): boolean {
  const at = args.findIndex((arg) => /^(?:--help|-h)$/.test(textOf(arg)));
  const before = args[at - 1];
  return (
    at === 0 ||
    !before ||
    !textOf(before).startsWith("-") ||
    /^--?(?:hard|soft|mixed|force|f|all|a|v|verbose|n|dry-run|q|quiet)$/.test(textOf(before))
  );
}

function runAlias(alias: string, args: readonly Text[], spot: Spot): Flow {
  if (alias.startsWith("!")) {
    const tail = args.every((arg) => arg.type === "known")
      ? args.map((arg) => ` '${textOf(arg).replaceAll("'", "'\\''")}'`).join("")
      : "";
    return spot.line.engine.runSource(known(alias.slice(1) + tail), spot);
  }
  return git({ name: "git", args: [...alias.split(/\s+/).map(known), ...args], spot });
}

const looks: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "o output S G O format" });
  for (const path of given.values("output")) writes(spot, path);
  if (
    given.has("ext-diff", "textconv", "open-files-in-pager") ||
    args.some((arg) => /^-O/.test(textOf(arg)) && textOf(arg).length > 2)
  )
    note(spot, { kind: "code", what: "makes git run another program" });
  const [path] = given.values("open-files-in-pager");
  if (path) spot.line.engine.runSource(path, spot);
  return OUTPUT;
};

const unknownCommand: Behaviour = ({ name, spot }) => {
  noteUnknown(spot, `runs git ${name}, which may be anything`);
  return OUTPUT;
};

/** Whether `git tag` and `git branch` only list. */
const LISTS =
  /^(?:-l|--list|-a|--all|-r|--remotes?|-v|-vv|--verbose|--contains|--no-contains|--merged|--no-merged|--show-current|--points-at|-n\d*|--sort.*|--format.*|--column.*|--color.*)$/;
const listsOr =
  (otherwise: Behaviour): Behaviour =>
  (call) =>
    call.args.length === 0 || call.args.some((arg) => LISTS.test(textOf(arg))) ? OUTPUT : otherwise(call);

const subcommand =
  (readsOnly: RegExp): Behaviour =>
  (call) =>
    readsOnly.test(textOf(call.args[0] ?? known(""))) ? OUTPUT : changesIt(call);

const some = (names: string, behaviour: Behaviour) =>
  Object.fromEntries(names.split(" ").map((name) => [name, behaviour]));

const COMMANDS: Readonly<Record<string, Behaviour>> = {
  ...some(
    "status log diff show blame annotate shortlog describe rev-parse rev-list name-rev merge-base cat-file check-ignore check-attr check-mailmap check-ref-format cherry for-each-ref grep count-objects fsck verify-tag verify-commit verify-pack help version whatchanged diff-tree diff-files diff-index range-diff hash-object show-ref show-branch var ls-files ls-tree ls-remote get-tar-commit-id merge-tree patch-id stripspace column interpret-trailers fmt-merge-msg for-each-repo request-pull",
    looks,
  ),
  ...some(
    "add merge cherry-pick revert am bundle pack-refs repack sparse-checkout maintenance mktree write-tree commit-tree read-tree update-index rerere unpack-objects index-pack pack-objects format-patch citool",
    changesIt,
  ),
  ...some("filter-branch filter-repo fast-import", rewrites),
  ...some("fetch pull clone", fetches),
  ...some("push send-pack send-email http-push svn p4 imap-send", push),
  ...some("prune gc", prunes),
  ...some("rm mv", removes),
  ...some("update-ref symbolic-ref", writesRefs),
  ...some("checkout switch", checkout),
  notes: subcommand(/^(?:|list|show|get-ref)$/),
  lfs: subcommand(/^(?:status|ls-files|env|version|fetch|logs|locks|pointer)$/),
  branch: listsOr(branch),
  tag: listsOr(branch),
  replace: listsOr(rewrites),
  reset,
  clean,
  restore,
  stash,
  reflog,
  config,
  remote,
  worktree,
  rebase,
  bisect,
  submodule,
  apply,
  init,
  commit,
  archive,
};
