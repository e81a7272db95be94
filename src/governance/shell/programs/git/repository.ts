import type { Behaviour } from "../../call.ts";
import { readArguments } from "../../options.ts";
import { reads, unpacksInto, writes } from "../../paths.ts";
import { noteEffect } from "../../state/state.ts";
import { OUTPUT } from "../../values/flow.ts";
import { known, textOf } from "../../values/text.ts";
import { changesIt, history } from "./changes.ts";

export const config: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "f file blob type default",
    long: "get get-all get-regexp list unset unset-all add replace-all global system local worktree edit remove-section show-origin show-scope name-only null",
  });
  const [first] = given.operands;
  const files = given.values("f", "file");
  for (const file of files) reads(spot, file);
  const isRead =
    given.has("get", "get-all", "get-regexp", "get-urlmatch", "l", "list") ||
    (given.operands.length === 1 && !given.has("unset", "unset-all", "e", "edit", "remove-section")) ||
    /^(?:get|list)$/.test(textOf(first ?? known("")));
  if (isRead && textOf(first ?? known("")) !== "edit") return OUTPUT;
  for (const file of files) writes(spot, file);
  const key = given.operands.map(textOf).find((text) => text.includes(".")) ?? "";
  if (/^user\.(?:name|email)$/i.test(key) && !given.has("global", "system")) changesIt({ name: "config", args, spot });
  else
    noteEffect(spot, {
      kind: "ours",
      what: `changes the settings of git: ${key}`,
      instead: "Give the setting to one command: git -c key=value …",
    });
  return OUTPUT;
};

export const remote: Behaviour = ({ args, spot }) => {
  const { operands } = readArguments(args, {});
  const sub = textOf(operands[0] ?? known(""));
  if (/^(?:|show|get-url)$/.test(sub)) return OUTPUT;
  if (sub === "update") {
    noteEffect(spot, { kind: "fetches", what: "git remote update gets commits from elsewhere" });
    return OUTPUT;
  }
  if (sub === "prune") return changesIt({ name: "remote prune", args, spot });
  noteEffect(spot, { kind: "ours", what: `changes the remotes of the repository with git remote ${sub}` });
  return OUTPUT;
};

export const worktree: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "b B reason", long: "force dry-run porcelain" });
  const [sub, path] = given.operands;
  const name = textOf(sub ?? known("list"));
  if (name === "list" || given.has("n", "dry-run")) return OUTPUT;
  if (given.has("B")) history(spot, "moves a branch away from its commits");
  if (name === "add" && path) {
    writes(spot, path);
    unpacksInto(spot, path);
  } else noteEffect(spot, { kind: "ours", what: `changes the worktrees of the repository with git worktree ${name}` });
  return OUTPUT;
};

export const lfs: Behaviour = (call) => {
  const sub = textOf(call.args[0] ?? known(""));
  if (/^(?:status|ls-files|env|version|fetch|logs|locks|pointer|)$/.test(sub)) return OUTPUT;
  if (/^(?:push|lock|unlock)$/.test(sub))
    noteEffect(call.spot, { kind: "sends", what: `sends to another repository with git lfs ${sub}` });
  if (/^(?:install|uninstall|update|migrate|prune)$/.test(sub))
    noteEffect(call.spot, { kind: "ours", what: `changes settings or history of git with git lfs ${sub}` });
  return changesIt(call);
};

export const bundle: Behaviour = ({ name, args, spot }) => {
  const { operands } = readArguments(args, {});
  const [sub, file] = operands;
  if (textOf(sub ?? known("")) === "create" && file) writes(spot, file);
  return changesIt({ name, args, spot });
};

/** Registers the repository for work that runs later. */
export const maintenance: Behaviour = (call) => {
  const sub = textOf(call.args[0] ?? known(""));
  if (sub !== "run")
    noteEffect(call.spot, { kind: "ours", what: `changes settings of the person with git maintenance ${sub}` });
  return changesIt(call);
};

export const formatPatch: Behaviour = (call) => {
  const given = readArguments(call.args, { valued: "o output-directory output v subject-prefix to cc" });
  for (const path of given.values("o", "output-directory", "output")) writes(call.spot, path);
  return changesIt(call);
};
