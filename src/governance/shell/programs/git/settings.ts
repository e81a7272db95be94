import { noteSecrets } from "../../paths.ts";
import { noteEffect, noteUnknown, type Spot } from "../../state/state.ts";
import { describeText, known, type Text, textOf } from "../../values/text.ts";
import { history } from "./changes.ts";

/** Settings that make git run a program, or lose work, where it would otherwise ask. */
const RUNS_BY_SETTING =
  /^(?:core\.(?:fsmonitor|hookspath|sshcommand|pager|editor|askpass|gitproxy|alternaterefscommand|attributesfile|excludesfile|worktree|fsmonitorhookversion)|pager\..+|alias\..+|diff\.(?:external|.+\.(?:command|textconv))|difftool\..+|mergetool\..+|merge\..+\.driver|filter\..+|credential\.(?:helper|.+\.helper)|gpg\.(?:program|.+\.program|.+\.defaultkeycommand)|sequence\.editor|interactive\.difffilter|uploadpack\.packobjectshook|remote\..+\.(?:uploadpack|receivepack|vcs|proxy|url|pushurl)|url\..+|http\..+|protocol\..+|include\.path|includeif\..+|sendemail\..+|instaweb\..+|browser\..+|man\..+|web\.browser|submodule\..+\.update|trailer\..+\.(?:command|cmd)|safe\..+|init\.templatedir|tar\..+\.command|commit\.gpgsign|receive\..+|extensions\..+|hook\..+)$/i;

const ALIAS = /^alias\.(.+)$/i;
const PRUNES = /^gc\.(?:prune|reflog|worktreeprune|rerere)/i;

/** Values of such settings that run nothing. */
const HARMLESS: readonly [keys: RegExp, values: RegExp][] = [
  [/^(?:core\.pager|pager\..+)$/i, /^(?:cat|less|more|false|)$/],
  [/^(?:core|sequence)\.editor$/i, /^(?:true|:|cat)$/],
  [/^(?:commit\.gpgsign|core\.hookspath)$/i, /^(?:false|\/dev\/null|)$/],
];

export function useSetting(
  setting: Text,
  { spot, aliases, command }: { spot: Spot; aliases: Map<string, string>; command: string },
): void {
  const text = textOf(setting);
  const [key = "", value = ""] = text.includes("=")
    ? [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)]
    : [text, "true"];
  if (setting.type !== "known") {
    noteUnknown(spot, `gives git a setting that cannot be told: ${describeText(setting)}`);
    return;
  }
  // Of a file that is not what it should be, git tells.
  noteSecrets([known(value)], spot);
  const alias = ALIAS.exec(key)?.[1];
  if (alias !== undefined) aliases.set(alias, value);
  else if (HARMLESS.some(([keys, values]) => keys.test(key) && values.test(value))) return;
  else if (PRUNES.test(key) && command === "gc") history(spot, `loses commits that no branch has: ${key}=${value}`);
  else if (/^clean\.requireforce$/i.test(key) && command === "clean")
    history(spot, "deletes files that are not committed");
  else if (RUNS_BY_SETTING.test(key))
    noteEffect(spot, { kind: "code", what: `makes git run or load something: ${key}=${value}` });
}
