import { judgeAssignment } from "../assignments.ts";
import type { Behaviour } from "../call.ts";
import { cameFrom, type Flow, FROM, NOTHING, OUTPUT, TERMINAL, textOfFlow } from "../flow.ts";
import { type OptionRules, readArguments } from "../options.ts";
import { absolutePaths, reads, touch, writes } from "../paths.ts";
import { copyShell, note, noteUnknown, type Spot } from "../state.ts";
import { joinTexts, known, type Text, textOf, unknown } from "../text.ts";

/** A program whose arguments, behind its options, are a command. */
export function wrapper(rules: OptionRules = {}, skip = 0): Behaviour {
  return ({ args, spot }) => {
    const { operands } = readArguments(args, { ...rules, stopsAtOperand: true });
    const words = operands.slice(skip);
    // A value that is taken for an option's must not hide a command.
    spot.line.engine.runCarried(args, spot, args.length - words.length);
    return spot.line.engine.runWords(words, spot);
  };
}

/** `time` and tracers can write what they measure into a file. */
export function measurer(rules: OptionRules): Behaviour {
  const run = wrapper(rules);
  return (call) => {
    for (const file of readArguments(call.args, { ...rules, stopsAtOperand: true }).values("o", "output"))
      writes(call.spot, file);
    return run(call);
  };
}

/** Terminals, watchers and runners that are given commands in many ways. */
export const carrier: Behaviour = ({ name, args, spot }) => {
  note(spot, { kind: "runs", what: `runs ${name}` });
  spot.line.engine.runCarried(args, spot);
  return OUTPUT;
};

const DEBUGGER_COMMANDS =
  /^-{1,2}(?:ex|x|eval-command|command|iex|ix|init-command|init-eval-command|o|one-line|s|source)(?:=|$)/;

/** Debuggers run what they are given, and commands of their own. */
export const debugs: Behaviour = (call) => {
  if (call.args.some((arg) => DEBUGGER_COMMANDS.test(textOf(arg))))
    note(call.spot, { kind: "code", what: `gives commands to ${call.name}` });
  return carrier(call);
};

/** A program whose first operand is a line for a shell. */
export function lineWrapper(rules: OptionRules, skip = 0): Behaviour {
  return ({ args, spot }) => {
    const { operands } = readArguments(args, rules);
    const words = operands.slice(skip);
    if (words.length === 0) return OUTPUT;
    const lost = words.find((word) => word.type !== "known");
    return spot.line.engine.runSource(lost ?? known(words.map(textOf).join(" ")), {
      ...spot,
      shell: copyShell(spot.shell),
    });
  };
}

/** With other rights. What is run is judged as well, for the reason that is given. */
export function elevates(rules: OptionRules): Behaviour {
  return ({ name, args, spot }) => {
    note(spot, {
      kind: "privilege",
      what: `runs something with other rights, by ${name}`,
      instead: "Do it with your own rights, in the worktree.",
    });
    const { operands, values } = readArguments(args, { ...rules, stopsAtOperand: name !== "su" });
    for (const line of values("c", "command")) spot.line.engine.runSource(line, spot);
    return name === "su"
      ? OUTPUT
      : spot.line.engine.runWords(
          operands.filter((word) => !/^\w+=/.test(textOf(word))),
          spot,
        );
  };
}

export const env: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "u unset C chdir S split-string", stopsAtOperand: true });
  const shell = copyShell(spot.shell);
  const inside = { ...spot, shell };
  for (const folder of given.values("C", "chdir"))
    shell.folders = absolutePaths(folder, spot).map((path) => (path.type === "known" ? path.text : undefined));
  for (const line of given.values("S", "split-string")) return spot.line.engine.runSource(line, inside);
  let words = given.operands.filter((word, at) => at > 0 || textOf(word) !== "-");
  for (let [first] = words; first && /^[^=\s]+=/.test(textOf(first)); [first] = words) {
    const text = textOf(first);
    const name = text.slice(0, text.indexOf("="));
    const value: Text = first.type === "known" ? known(text.slice(name.length + 1)) : first;
    shell.variables.set(name, [value]);
    judgeAssignment(name.replace(/%%$/, ""), value, inside);
    words = words.slice(1);
  }
  // The environment may hold tokens.
  if (words.length === 0) return cameFrom(FROM.program | FROM.secret);
  return spot.line.engine.runWords(words, inside);
};

/** Where the words of its input go: in place of a mark, or to the end. */
export const xargs: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "I replace J L max-lines n max-args P max-procs s max-chars S E eof d delimiter a arg-file",
    long: "null verbose no-run-if-empty interactive exit open-tty",
    stopsAtOperand: true,
  });
  for (const file of given.values("a", "arg-file")) reads(spot, file);
  const words = given.operands.length > 0 ? given.operands : [known("echo")];
  const [mark] = given.has("i") ? [known("{}")] : given.values("I", "replace", "J");
  const input = inputWords(spot, given.values("a", "arg-file").length > 0);
  const inner: Spot = { ...spot, input: NOTHING };
  if (!mark || textOf(mark) === "") return spot.line.engine.runWords([...words, ...input], inner);
  const filled = words.flatMap((word) =>
    word.type === "known" && word.text.includes(textOf(mark)) ? [fill(word.text, textOf(mark), input[0])] : [word],
  );
  return spot.line.engine.runWords(filled, inner);
};

function fill(word: string, mark: string, value: Text | undefined): Text {
  if (word === mark) return value ?? unknown("nothing tells what it gets");
  return joinTexts(
    word
      .split(mark)
      .flatMap((part, at) =>
        at === 0 ? [known(part)] : [value ?? unknown("nothing tells what it gets"), known(part)],
      ),
  );
}

/** Without input, as in a command that is only looked at, nothing is added. */
function inputWords({ input }: Spot, fromFile: boolean): Text[] {
  if (fromFile) return [unknown("it comes from a file")];
  if (input === TERMINAL) return [unknown("it is what is typed")];
  if (input.text !== undefined) return input.text.split(/\s+/).filter(Boolean).map(known);
  return [textOfFlow(input)];
}

/** GNU parallel: a command, then `:::` and its arguments. */
export const parallel: Behaviour = ({ args, spot }) => {
  const at = args.findIndex((arg) => /^:::?\+?$|^::::$/.test(textOf(arg)));
  const { operands } = readArguments(at < 0 ? args : args.slice(0, at), {
    valued: "j jobs a arg-file I colsep delay timeout retries joblog results tmpdir S sshlogin workdir N n L k",
    stopsAtOperand: true,
  });
  const values = at < 0 ? inputWords(spot, false) : args.slice(at + 1);
  if (operands.length === 0) {
    for (const value of values) spot.line.engine.runSource(value, spot);
    return OUTPUT;
  }
  if (operands.some((word) => word.type !== "known")) return spot.line.engine.runWords(operands, spot);
  const line = operands.map(textOf).join(" ");
  for (const value of values.length > 0 ? values : [known("")]) {
    const word = value.type === "known" ? `'${value.text.replaceAll("'", "'\\''")}'` : undefined;
    if (word === undefined)
      return spot.line.engine.runWords(
        [
          ...operands.flatMap((one) => textOf(one).split(/\s+/).map(known)).filter((one) => textOf(one) !== "{}"),
          value,
        ],
        { ...spot, input: NOTHING },
      );
    const isPlaced = /\{\.?\/?\.?\}/.test(line);
    spot.line.engine.runSource(known(isPlaced ? line.replace(/\{\.?\/?\.?\}/g, word) : `${line} ${word}`), {
      ...spot,
      input: NOTHING,
    });
  }
  return OUTPUT;
};

const FILTERS =
  /^-(?:i?name|i?path|i?wholename|i?regex|i?lname|newer\w*|[acm]min|[acm]time|size|empty|user|group|perm|samefile|inum|links|type|xtype|maxdepth|mindepth)$/;
const NARROWS = /^-(?:i?name|i?path|i?wholename|i?regex|i?lname|newer\w*|[acm]min|[acm]time|size|empty|samefile|inum)$/;

/** Folders to look in, what it looks for, and what it does with what it finds. */
export const find: Behaviour = ({ args, spot }) => {
  const first = args.findIndex((arg) => /^(?:-(?![HLPXxdEsOD]$|O\d|D)|[(!])/.test(textOf(arg)));
  const end = first < 0 ? args.length : first;
  const folders = args.slice(0, end).filter((arg) => !/^-/.test(textOf(arg)) || arg.type !== "known");
  const starts = folders.length > 0 ? folders : [known(".")];
  const tests = args.slice(end);
  if (folders.slice(1).some((folder) => folder.type === "unknown"))
    noteUnknown(spot, "gives find something that cannot be told, and it may delete");
  const isNarrow = narrows(tests);
  const found = starts.flatMap((folder) =>
    absolutePaths(folder, spot).map(
      (path): Text => (path.type === "known" ? { type: "found", folder: path.text, all: !isNarrow } : path),
    ),
  );
  for (const folder of starts) reads(spot, folder);
  for (let at = 0; at < tests.length; at += 1) at = action(tests, at, { spot, found });
  return {
    from: FROM.program,
    names: found.length === 1 ? found[0] : (found.find(({ type }) => type === "unknown") ?? found[0]),
  };
};

/** A filter that names or dates files leaves some of them; `-o` can undo it. */
function narrows(tests: readonly Text[]): boolean {
  return (
    tests.some((test, at) => NARROWS.test(textOf(test)) && !/^\*+$/.test(textOf(tests[at + 1] ?? known("")))) &&
    !tests.some(
      (test) =>
        /^-(?:o|or|true)$/.test(textOf(test)) && !tests.some((other) => FILTERS.test(textOf(other)) && other !== test),
    )
  );
}

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
      words.map((word) => (word.type === "known" && word.text.includes("{}") ? fill(word.text, "{}", path) : word)),
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
  const found = (starts.length > 0 ? starts : [known(".")]).flatMap((folder) =>
    absolutePaths(folder, spot).map(
      (path): Text => (path.type === "known" ? { type: "found", folder: path.text, all: !isNarrow } : path),
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

/** Programs that print names of files below a folder. */
export function lists(rules: OptionRules, skip: number): Behaviour {
  return ({ args, spot }) => {
    const { operands } = readArguments(args, rules);
    const folders = operands.slice(skip);
    for (const folder of folders) reads(spot, folder);
    const [only] = folders.length === 0 ? [known(".")] : folders;
    const [path] = absolutePaths(only ?? known("."), spot);
    const names: Text | undefined =
      path?.type === "known" && folders.length <= 1 ? { type: "found", folder: path.text, all: skip === 0 } : undefined;
    const flow: Flow = { from: FROM.program | FROM.files, names };
    return flow;
  };
}
