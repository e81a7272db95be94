import type { Behaviour } from "../../call.ts";
import { type OptionRules, readArguments } from "../../options.ts";
import { absolutePaths, reads, touch, writes } from "../../paths.ts";
import { noteUnknown, type Spot } from "../../state/state.ts";
import { type Flow, FROM, NOTHING } from "../../values/flow.ts";
import { fillIn, known, type Text, textOf } from "../../values/text.ts";

const FILTERS =
  /^-(?:i?name|i?path|i?wholename|i?regex|i?lname|newer\w*|[acm]min|[acm]time|size|user|group|perm|samefile|inum|links|type|xtype|maxdepth|mindepth)$/;
const NAMES = /^-(?:i?name|i?path|i?wholename|i?regex|i?lname|samefile|inum)$/;

/** Longer than a name or a path that is looked for. */
const MAX_TEST = 1000;

/** Folders to look in, what it looks for, and what it does with what it finds. */
export const find: Behaviour = ({ args, spot }) => {
  const first = args.findIndex((arg) => /^(?:-(?![HLPXxdEsOD]$|O\d|D)|[(!])/.test(textOf(arg)));
  const end = first < 0 ? args.length : first;
  const folders = args.slice(0, end).filter((arg) => !/^-/.test(textOf(arg)) || arg.type !== "known");
  const starts = folders.length > 0 ? folders : [known(".")];
  const tests = args.slice(end);
  if (folders.slice(1).some((folder) => folder.type === "unknown"))
    noteUnknown(spot, "gives find something that cannot be told, and it may delete");
  if (tests.some((test) => textOf(test).length > MAX_TEST)) {
    noteUnknown(spot, "gives find more than can be looked at");
    return { from: FROM.program };
  }
  const isNarrow = narrows(tests);
  const names = patternsIn(tests);
  const follows = args.some((arg) => /^-(?:L|follow)$/.test(textOf(arg)));
  const found = starts.flatMap((folder) =>
    absolutePaths(folder, spot).map(
      (path): Text =>
        path.type === "known" ? { type: "found", folder: path.text, all: !isNarrow, names, follows } : path,
    ),
  );
  for (const folder of starts) reads(spot, folder);
  for (const [at, test] of tests.entries()) if (textOf(tests[at - 1] ?? known("")) === "-samefile") reads(spot, test);
  // A pattern of whole paths says where they are.
  for (const pattern of isNarrow ? names : [])
    if (pattern.includes("/") && !/^[*?[]/.test(pattern))
      found.push(...absolutePaths({ type: "glob", text: pattern }, spot));
  for (let at = 0; at < tests.length; at += 1) at = action(tests, at, { spot, found });
  return {
    from: FROM.program,
    names: found.length === 1 ? found[0] : (found.find(({ type }) => type === "unknown") ?? found[0]),
  };
};

const asGlob = (part: string): string => (part === "\\." ? "." : "*");

/** What names and paths must look like, whichever of the alternatives is the one that counts. */
function patternsIn(tests: readonly Text[]): string[] {
  return tests.flatMap((test, at) => {
    const isNegated = /^(?:!|-not)$/.test(textOf(tests[at - 1] ?? known("")));
    const value = textOf(tests[at + 1] ?? known(""));
    if (isNegated) return [];
    if (/^-i?(?:name|path|wholename)$/.test(textOf(test))) return [value];
    return /^-i?regex$/.test(textOf(test)) ? [value.replace(/\\\.|[[(].*[\])]|\.[*+?]|[.*+?^$|\\]/g, asGlob)] : [];
  });
}

/** Whether what is found is some of the files only: every alternative must name them, and not by what they are not called. */
function narrows(tests: readonly Text[]): boolean {
  let isNamed = false;
  for (const [at, test] of tests.entries()) {
    const word = textOf(test);
    if (word === "-o" || word === "-or" || word === ",") {
      if (!isNamed) return false;
      isNamed = false;
    }
    const isNegated = at > 0 && /^(?:!|-not)$/.test(textOf(tests[at - 1] as Text));
    if (isNegated) continue;
    if (word === "-empty" || (NAMES.test(word) && !isWide(textOf(tests[at + 1] ?? known(""))))) isNamed = true;
  }
  return isNamed;
}

/** A pattern of wildcards alone. */
const isWide = (pattern: string): boolean => /^[.*?+/\\]*$/.test(pattern.replace(/\[[^\]]*\]/g, "*"));

function action(tests: readonly Text[], at: number, { spot, found }: { spot: Spot; found: readonly Text[] }): number {
  const name = textOf(tests[at] as Text);
  if (tests[at]?.type === "unknown") noteUnknown(spot, "gives find something that cannot be told, and it may delete");
  if (FILTERS.test(name)) return at + 1;
  if (name === "-delete") for (const path of found) touch(spot, { kind: "deletes", path, whole: true });
  if (/^-f(?:print0?|ls)$/.test(name) || name === "-fprintf") {
    const path = tests[at + 1];
    if (path) writes(spot, path);
    return at + 1;
  }
  if (name === "-files0-from") {
    const path = tests[at + 1];
    if (path) reads(spot, path);
    return at + 1;
  }
  if (!/^-(?:exec|execdir|ok|okdir)$/.test(name)) return at;
  const rest = tests.slice(at + 1);
  const length = rest.findIndex(
    (word, index) =>
      textOf(word) === ";" ||
      textOf(word) === "\\;" ||
      (textOf(word) === "+" && textOf(rest[index - 1] ?? known("")) === "{}"),
  );
  const words = length < 0 ? rest : rest.slice(0, length);
  for (const path of found)
    spot.line.engine.runWords(
      words.map((word) => (word.type === "known" && word.text.includes("{}") ? fillIn(word.text, "{}", path) : word)),
      { ...spot, input: NOTHING },
    );
  return at + words.length + 1;
}

/** fd: a pattern, folders, and `-x` with a command. */
export const fd: Behaviour = ({ args, spot }) => {
  const at = args.findIndex((arg) => /^(?:-x|-X|--exec|--exec-batch)$/.test(textOf(arg)));
  const given = readArguments(at < 0 ? args : args.slice(0, at), {
    valued:
      "e extension t type d max-depth E exclude S size changed-within changed-before c color o owner j threads base-directory search-path path-separator format max-results",
  });
  const [pattern, ...folders] = given.operands;
  const isNarrow =
    (pattern !== undefined && !/^\.?\*?$/.test(textOf(pattern))) ||
    given.has("e", "extension", "S", "size", "changed-within", "changed-before");
  const starts = [...folders, ...given.values("search-path", "base-directory")];
  const endings = given.values("e", "extension").map((ending) => `*.${textOf(ending)}`);
  const names = endings.length > 0 ? endings : pattern && [`*${textOf(pattern).replace(/[\^$\\]/g, "")}*`];
  const follows = given.has("L", "follow");
  const found = (starts.length > 0 ? starts : [known(".")]).flatMap((folder) =>
    absolutePaths(folder, spot).map(
      (path): Text =>
        path.type === "known" ? { type: "found", folder: path.text, all: !isNarrow, names, follows } : path,
    ),
  );
  if (at >= 0) {
    const words = args.slice(at + 1);
    const hasMark = words.some((word) => /\{.*\}/.test(textOf(word)));
    for (const path of found)
      spot.line.engine.runWords(
        hasMark ? words.map((word) => (/\{.*\}/.test(textOf(word)) ? path : word)) : [...words, path],
        { ...spot, input: NOTHING },
      );
  }
  return { from: FROM.program, names: found[0] };
};

const isNameHere = (path: Text): boolean => path.type === "known" && /^(?:\.\/)?[^/~]+$/.test(path.text);

/** Programs that print names of files below a folder. */
export function lists(rules: OptionRules, skip: number): Behaviour {
  return ({ args, spot }) => {
    const { operands } = readArguments(args, rules);
    const folders = operands.slice(skip);
    // That a file is in the worktree is not a secret.
    for (const folder of folders) if (skip > 0 || !isNameHere(folder)) reads(spot, folder);
    const [only] = folders.length === 0 ? [known(".")] : folders;
    const [path] = absolutePaths(only ?? known("."), spot);
    const names: Text | undefined =
      path?.type === "known" && folders.length <= 1 ? { type: "found", folder: path.text, all: skip === 0 } : undefined;
    const flow: Flow = { from: FROM.program | FROM.files, names };
    return flow;
  };
}
