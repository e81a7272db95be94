import type { Behaviour, Call } from "../call.ts";
import { type Flow, OUTPUT } from "../flow.ts";
import { type Arguments, readArguments } from "../options.ts";
import { absolutePaths, deletes, reads, send, touch, writes } from "../paths.ts";
import { copyShell, note, noteUnknown, type Spot } from "../state.ts";
import { describe, known, type Text, textOf } from "../text.ts";

const GLOBAL_VALUED = "C c git-dir work-tree namespace exec-path super-prefix config-env list-cmds attr-source";

/** Settings that make git run a program, or lose work, where it would otherwise ask. */
const RUNS_BY_SETTING =
  /^(?:core\.(?:fsmonitor|hookspath|sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand|attributesfile|excludesfile|worktree|fsmonitorhookversion)|pager\..+|alias\..+|diff\.(?:external|.+\.(?:command|textconv))|difftool\..+|mergetool\..+|merge\..+\.driver|filter\..+|credential\.(?:helper|.+\.helper)|gpg\.(?:program|.+\.program|.+\.defaultkeycommand)|sequence\.editor|interactive\.difffilter|uploadpack\.packobjectshook|remote\..+\.(?:uploadpack|receivepack|vcs|proxy|url|pushurl)|url\..+|http\..+|protocol\..+|include\.path|includeif\..+|sendemail\..+|instaweb\..+|browser\..+|man\..+|web\.browser|submodule\..+\.update|trailer\..+\.(?:command|cmd)|safe\..+|init\.templatedir|tar\..+\.command|commit\.gpgsign|receive\..+|extensions\..+)$/i;

const history = (spot: Spot, what: string, instead?: string) => note(spot, { kind: "history", what, instead });

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

function useSetting(
  setting: Text,
  { spot, aliases, command }: { spot: Spot; aliases: Map<string, string>; command: string },
): void {
  const text = textOf(setting);
  const [key = "", value = ""] = text.includes("=")
    ? [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]
    : [text, "true"];
  if (setting.type !== "known")
    return noteUnknown(spot, `gives git a setting that cannot be told: ${describe(setting)}`);
  const alias = /^alias\.(.+)$/i.exec(key)?.[1];
  if (alias !== undefined) return void aliases.set(alias, value);
  if (/^(?:core\.pager|pager\..+)$/i.test(key) && /^(?:cat|less|more|false|)$/.test(value)) return;
  if (/^core\.editor$|^sequence\.editor$/i.test(key) && /^(?:true|:|cat)$/.test(value)) return;
  if (/^commit\.gpgsign$|^core\.hookspath$/i.test(key) && /^(?:false|\/dev\/null|)$/.test(value)) return;
  if (/^gc\.(?:prune|reflog|worktreeprune|rerere)/i.test(key) && command === "gc")
    return history(spot, `loses commits that no branch has: ${key}=${value}`);
  if (/^clean\.requireforce$/i.test(key))
    return void (command === "clean" && history(spot, "deletes files that are not committed"));
  if (RUNS_BY_SETTING.test(key)) note(spot, { kind: "code", what: `makes git run or load something: ${key}=${value}` });
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

/** Changes the repository in ways that can be taken back. */
const changesIt: Behaviour = ({ name, spot }) => {
  note(spot, { kind: "runs", what: `changes the repository with git ${name}` });
  return OUTPUT;
};

const unknownCommand: Behaviour = ({ name, spot }) => {
  noteUnknown(spot, `runs git ${name}, which may be anything`);
  return OUTPUT;
};

const LOSES = "loses work that is not committed";

const reset: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { long: "soft mixed hard merge keep quiet patch" });
  if (given.has("hard", "merge", "keep"))
    history(spot, LOSES, "Use git stash, or undo single files with the edit tool.");
  else changesIt({ name: "reset", args, spot });
  return OUTPUT;
};

const push: Behaviour = ({ spot }) => {
  note(spot, {
    kind: "sends",
    what: "pushes commits to another repository",
    instead: "Commit only: prloom pushes what was checked.",
  });
  return OUTPUT;
};

const clean: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "e exclude", long: "force dry-run interactive quiet" });
  if (!given.has("n", "dry-run"))
    history(spot, "deletes files that are not committed", "Delete single files by their names.");
  return OUTPUT;
};

/** Paths that git puts back to what was committed. Everything at once loses the work of the run. */
function restores(paths: readonly Text[], spot: Spot): void {
  for (const path of paths) touch(spot, { kind: "deletes", path, whole: true });
}

const checkout: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    valued: "b B orphan c C conflict pathspec-from-file source s U unified inter-hunk-context",
    long: "force discard-changes merge patch detach track no-track guess quiet ours theirs no-merge no-patch no-detach",
  });
  if (given.has("f", "force", "discard-changes")) history(spot, LOSES, "Use git stash first.");
  const at = args.findIndex((arg) => textOf(arg) === "--");
  if (given.has("pathspec-from-file")) history(spot, `${LOSES}: paths from a file`);
  if (given.has("b", "B", "orphan", "c", "C") || name === "switch") {
    changesIt({ name, args, spot });
    return OUTPUT;
  }
  const paths =
    at >= 0
      ? args.slice(at + 1).filter((arg) => !textOf(arg).startsWith("-"))
      : given.operands.filter((one, index) => isPath(one, spot) && (index > 0 || given.operands.length === 1));
  if (paths.length > 0) restores(paths, spot);
  else changesIt({ name, args, spot });
  return OUTPUT;
};

function isPath(operand: Text, spot: Spot): boolean {
  if (operand.type !== "known") return true;
  if (/^(?:\.|\.\.|\.\/.*|\.\.\/.*|:\/.*|:\(.*)$/.test(operand.text)) return true;
  return absolutePaths(operand, spot).some(
    (path) => path.type === "known" && spot.line.place.look(path.text) !== undefined,
  );
}

const restore: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "s source pathspec-from-file U unified",
    long: "staged worktree patch quiet overlay ours theirs merge",
  });
  if (given.has("S", "staged") && !given.has("W", "worktree")) return changesIt({ name: "restore", args, spot });
  if (given.has("pathspec-from-file")) history(spot, `${LOSES}: paths from a file`);
  restores(given.operands, spot);
  return OUTPUT;
};

const stash: Behaviour = ({ args, spot }) => {
  const sub = textOf(args[0] ?? known("push"));
  if (sub === "list" || sub === "show") return OUTPUT;
  if (sub === "drop" || sub === "clear") history(spot, "deletes work that was put aside");
  else changesIt({ name: "stash", args, spot });
  return OUTPUT;
};

const prunes: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    valued: "expire prune expire-unreachable",
    long: "dry-run auto aggressive quiet all",
  });
  const isNow = /^(?:now|all|0|never|\d+\.(?:seconds|minutes))/.test(
    [...given.values("expire", "prune", "expire-unreachable", "expire-")].map(textOf).join(),
  );
  if (given.has("n", "dry-run")) return OUTPUT;
  if (name === "prune" || isNow) history(spot, "deletes commits that no branch has");
  else changesIt({ name, args, spot });
  return OUTPUT;
};

const reflog: Behaviour = ({ args, spot }) => {
  const sub = textOf(args[0] ?? known("show"));
  if (sub === "expire" || sub === "delete") history(spot, "deletes the record of where branches were");
  return OUTPUT;
};

const branch: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    valued: "u set-upstream-to m message F file",
    long: "delete force list all remotes contains merged",
  });
  if (given.has("D") || (given.has("d", "delete") && given.has("f", "force")) || (name === "branch" && given.has("M")))
    history(spot, "deletes a branch whose commits may be nowhere else");
  else if (given.has("d", "delete") || given.operands.length > 0) changesIt({ name, args, spot });
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

const config: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "f file blob type default",
    long: "get get-all get-regexp list unset unset-all add replace-all global system local worktree edit show-origin show-scope name-only null",
  });
  const [first] = given.operands;
  const isRead =
    given.has("get", "get-all", "get-regexp", "get-urlmatch", "l", "list") ||
    (given.operands.length === 1 && !given.has("unset", "unset-all", "e", "edit")) ||
    /^(?:get|list)$/.test(textOf(first ?? known("")));
  if (isRead) return OUTPUT;
  const key = given.operands.map(textOf).find((text) => text.includes(".")) ?? "";
  if (/^user\.(?:name|email)$/i.test(key) && !given.has("global", "system")) changesIt({ name: "config", args, spot });
  else
    note(spot, {
      kind: "ours",
      what: `changes the settings of git: ${key}`,
      instead: "Give the setting to one command: git -c key=value …",
    });
  return OUTPUT;
};

const remote: Behaviour = ({ args, spot }) => {
  const { operands } = readArguments(args, {});
  const sub = textOf(operands[0] ?? known(""));
  if (/^(?:|show|get-url)$/.test(sub)) return OUTPUT;
  note(spot, { kind: "ours", what: `changes the remotes of the repository with git remote ${sub}` });
  return OUTPUT;
};

const worktree: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "b B reason", long: "force dry-run porcelain" });
  const [sub, path] = given.operands;
  const name = textOf(sub ?? known("list"));
  if (name === "list" || given.has("n", "dry-run")) return OUTPUT;
  if (name === "add" && path) writes(spot, path);
  else note(spot, { kind: "ours", what: `changes the worktrees of the repository with git worktree ${name}` });
  return OUTPUT;
};

const rewrites: Behaviour = ({ name, spot }) => {
  history(spot, `rewrites history with git ${name}`);
  return OUTPUT;
};

/** Moves commits of this branch, which no one else has yet: it can be taken back. Editors and commands of it are judged. */
const rebase: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "x exec s strategy X onto C" });
  for (const command of given.values("x", "exec")) spot.line.engine.runSource(command, spot);
  return changesIt({ name: "rebase", args, spot });
};

const bisect: Behaviour = ({ args, spot }) => {
  const [sub, ...words] = args;
  if (textOf(sub ?? known("")) === "run") return spot.line.engine.runWords(words, spot);
  return changesIt({ name: "bisect", args, spot });
};

const submodule: Behaviour = ({ args, spot }) => {
  const { operands } = readArguments(args, { valued: "b branch name reference depth" });
  const [sub, ...rest] = operands;
  const name = textOf(sub ?? known("status"));
  if (name === "foreach") return spot.line.engine.runSource(known(rest.map(textOf).join(" ")), spot);
  if (name === "status" || name === "summary") return OUTPUT;
  return changesIt({ name: "submodule", args, spot });
};

/** Objects come from elsewhere; nothing of them is run. */
const fetches: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    valued:
      "u upload-pack o server-option depth b branch j jobs template c config origin reference separate-git-dir filter shallow-since s strategy X",
  });
  for (const program of given.values("u", "upload-pack")) spot.line.engine.runSource(program, spot);
  for (const one of [...given.values("c", "config")]) useSetting(one, { spot, aliases: new Map(), command: name });
  for (const operand of given.operands)
    if (/^ext::|^-|--upload-pack/.test(textOf(operand)))
      note(spot, { kind: "code", what: `makes git run a program: ${describe(operand)}` });
  note(spot, { kind: "fetches", what: `git ${name} gets commits from elsewhere` });
  if (name === "clone") {
    const [from, target] = given.operands;
    if (target) writes(spot, target);
    else if (from)
      writes(
        spot,
        known(
          textOf(from)
            .replace(/\/+$/, "")
            .replace(/\.git$/, "")
            .replace(/^.*[/:]/, "") || ".",
        ),
      );
  } else if (name === "pull") changesIt({ name, args, spot });
  return OUTPUT;
};

const removes: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, { valued: "pathspec-from-file", long: "cached force dry-run quiet" });
  if (given.has("n", "dry-run")) return OUTPUT;
  if (name === "rm" && given.has("cached")) return changesIt({ name, args, spot });
  if (name === "rm") for (const path of given.operands) deletes(spot, path, given.has("r"));
  else for (const path of given.operands) writes(spot, path);
  return OUTPUT;
};

const writesRefs: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, { valued: "m", long: "delete stdin no-deref" });
  if (name === "symbolic-ref" && given.operands.length === 1 && !given.has("d", "delete")) return OUTPUT;
  history(spot, `moves or deletes references with git ${name}`);
  return OUTPUT;
};

const apply: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "p C directory exclude include whitespace build-fake-ancestor",
    long: "check stat numstat summary cached index 3way",
  });
  for (const path of given.operands) reads(spot, path);
  if (given.has("check", "stat", "numstat", "summary")) return OUTPUT;
  for (const folder of given.values("directory")) writes(spot, folder);
  if (given.has("unsafe-paths")) noteUnknown(spot, "lets a patch write anywhere");
  writes(spot, known("."));
  return OUTPUT;
};

const init: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "b initial-branch template separate-git-dir object-format ref-format shared",
  });
  for (const template of given.values("template", "separate-git-dir"))
    note(spot, { kind: "code", what: `makes a repository from ${describe(template)}` });
  for (const folder of given.operands.length > 0 ? given.operands : [known(".")]) writes(spot, folder);
  return OUTPUT;
};

const commit: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "m message F file C reuse-message c reedit-message t template author date fixup squash trailer cleanup S",
  });
  for (const file of given.values("F", "file", "t", "template")) if (textOf(file) !== "-") reads(spot, file);
  return changesIt({ name: "commit", args, spot });
};

const ARCHIVE: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "o output format prefix remote exec add-file" });
  for (const path of given.values("o", "output")) writes(spot, path);
  for (const program of given.values("exec")) spot.line.engine.runSource(program, spot);
  for (const where of given.values("remote")) send(OUTPUT, textOf(where), spot);
  return { from: 8 };
};

const some = (names: string, behaviour: Behaviour) =>
  Object.fromEntries(names.split(" ").map((name) => [name, behaviour]));

const COMMANDS: Readonly<Record<string, Behaviour>> = {
  ...some(
    "status log diff show blame annotate shortlog describe rev-parse rev-list name-rev merge-base cat-file check-ignore check-attr check-mailmap check-ref-format cherry for-each-ref grep count-objects fsck verify-tag verify-commit verify-pack help version whatchanged diff-tree diff-files diff-index range-diff hash-object show-ref show-branch var ls-files ls-tree ls-remote get-tar-commit-id merge-tree patch-id stripspace column interpret-trailers difftool--helper fmt-merge-msg for-each-repo cherry-mark request-pull",
    looks,
  ),
  ...some(
    "add mv-index merge cherry-pick revert am bundle pack-refs repack sparse-checkout maintenance mktree write-tree commit-tree read-tree update-index rerere unpack-objects index-pack pack-objects format-patch citool",
    changesIt,
  ),
  ...some("filter-branch filter-repo replace-all fast-import", rewrites),
  ...some("fetch pull clone", fetches),
  ...some("push send-pack send-email http-push svn p4 imap-send", push),
  ...some("prune gc", prunes),
  ...some("rm mv", removes),
  ...some("update-ref symbolic-ref", writesRefs),
  ...some("checkout switch", checkout),
  notes: subcommand(/^(?:|list|show|get-ref)$/),
  lfs: subcommand(/^(?:status|ls-files|env|version|fetch|logs|locks|pointer|track-x)$/),
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
  archive: ARCHIVE,
};

export type { Arguments, Call };
