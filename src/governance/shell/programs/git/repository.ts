import type { Behaviour } from "../../call.ts";
import { OUTPUT } from "../../flow.ts";
import { readArguments } from "../../options.ts";
import { writes } from "../../paths.ts";
import { note } from "../../state.ts";
import { known, textOf } from "../../text.ts";
import { changesIt } from "./changes.ts";

export const config: Behaviour = ({ args, spot }) => {
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

export const remote: Behaviour = ({ args, spot }) => {
  const { operands } = readArguments(args, {});
  const sub = textOf(operands[0] ?? known(""));
  if (/^(?:|show|get-url)$/.test(sub)) return OUTPUT;
  note(spot, { kind: "ours", what: `changes the remotes of the repository with git remote ${sub}` });
  return OUTPUT;
};

export const worktree: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "b B reason", long: "force dry-run porcelain" });
  const [sub, path] = given.operands;
  const name = textOf(sub ?? known("list"));
  if (name === "list" || given.has("n", "dry-run")) return OUTPUT;
  if (name === "add" && path) writes(spot, path);
  else note(spot, { kind: "ours", what: `changes the worktrees of the repository with git worktree ${name}` });
  return OUTPUT;
};
