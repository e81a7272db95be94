import type { Behaviour, ProgramCall } from "../call.ts";
import { type OptionRules, readArguments } from "../options.ts";
import { absolutePaths, inFolder, writes } from "../paths.ts";
import { isOurSetting, judgeAssignment } from "../state/assignments.ts";
import { copyShell, noteEffect, noteUnknown } from "../state/state.ts";
import { type Flow, OUTPUT, textOfFlow } from "../values/flow.ts";
import { describeText, fillIn, joinLine, known, type Text, textOf } from "../values/text.ts";
import { showVariables, takeSecrets } from "../values/variables.ts";
import { runsProject } from "./fetched-code.ts";
import { noteInstructed } from "./instruction-files.ts";
import { noteOutputs } from "./outputs.ts";

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

/** `flock <file> <command>`, or a line behind `-c`. */
export const locks: Behaviour = ({ args, spot }) => {
  const { operands } = readArguments(args, { valued: "w wait timeout E conflict-exit-code", stopsAtOperand: true });
  const [lock, option, line] = operands;
  // It is made where it is not there.
  const isThere = (path: Text) => path.type === "known" && spot.line.place.look(path.text) !== undefined;
  if (lock && !/^\d+$/.test(textOf(lock)) && !absolutePaths(lock, spot).every(isThere)) writes(spot, lock);
  const isLine = option && line && /^(?:-c|--command)$/.test(textOf(option));
  return isLine ? spot.line.engine.runSource(line, spot) : spot.line.engine.runWords(operands.slice(1), spot);
};

/** `script -c <line> <file>`; on some systems `script <file> <command>`. */
export const recorder: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "c command B log-io I log-in O log-out T log-timing m logging-format E echo o output-limit t",
    stopsAtOperand: true,
  });
  const [file = known("typescript"), ...words] = given.operands;
  for (const written of [file, ...given.values("B", "log-io", "I", "log-in", "O", "log-out", "T", "log-timing")])
    writes(spot, written);
  const lines = given.values("c", "command");
  for (const line of lines) spot.line.engine.runSource(line, spot);
  if (words.length > 0) spot.line.engine.runWords(words, spot);
  else if (lines.length === 0) noteUnknown(spot, "opens a shell, which waits for commands");
  return OUTPUT;
};

const RECORDS = ["o", "output", "log-file", "xml-file"];

/** `time` and tracers can write what they measure into a file. */
export function measurer(rules: OptionRules): Behaviour {
  const run = wrapper(rules);
  return (call) => {
    for (const file of readArguments(call.args, { ...rules, stopsAtOperand: true }).values(...RECORDS))
      writes(call.spot, file);
    return run(call);
  };
}

/** Terminals, watchers and runners that are given commands in many ways. */
export const carrier: Behaviour = ({ name, args, spot }) => {
  if (/^dotenvx?$/.test(name)) takeSecrets(known(".env"), spot);
  if (/^dotenvx?$/.test(name) && args.some((arg) => /^(?:list|get|env|printenv)$/.test(textOf(arg))))
    showVariables(spot);
  noteOutputs(name, args, spot);
  noteInstructed(name, args, spot);
  runsProject(spot, `runs ${name}`);
  spot.line.engine.runCarried(args, spot);
  return OUTPUT;
};

/** What such programs are asked about what runs already. */
const LOOKS =
  /^(?:-V|-v|-ls|-list|--version|--help|-h|ls|list|list-\S+|ls-\S+|info|show|status|logs?|has-session|has)$/;

/** They hand a command to a server of the person's, or of the machine's: neither the end of the run nor its sandbox reaches it. */
export const outlives: Behaviour = ({ name, args, spot }) => {
  const line = args.map(textOf).join(" ");
  // tmux takes several commands, with `;` between them, and `-v` says more while something starts.
  const isOne = line.startsWith("-") ? args.length === 1 : !line.includes(";");
  if (args[0]?.type === "known" && LOOKS.test(args[0].text) && isOne) return OUTPUT;
  noteEffect(spot, {
    kind: "privilege",
    what: `starts something outside of the run, by ${name}`,
    instead: "Run it in the command itself, in the background where it must go on: <command> > log.txt 2>&1 &",
  });
  spot.line.engine.runCarried(args, spot);
  return OUTPUT;
};

const DEBUGGER_COMMANDS =
  /^-{1,2}(?:ex|x|eval-command|command|iex|ix|init-command|init-eval-command|o|one-line|s|source)(?:=|$)/;
const ONE_COMMAND = /^-{1,2}(?:ex|eval-command|o|one-line)$/;
/** Commands of debuggers that run the program and look at it. */
const LOOKS_AT_PROGRAM =
  /^(?:r|run|bt|backtrace|c|continue|q|quit|n|next|s|step|f|frame|up|down|l|list|b|break|info|thread|where)(?: [\w.:/ -]+)?$/;

/** Debuggers run what they are given, and commands of their own. */
export const debugs: Behaviour = (call) => {
  const isHarmless = (at: number) =>
    ONE_COMMAND.test(textOf(call.args[at] ?? known(""))) &&
    LOOKS_AT_PROGRAM.test(textOf(call.args[at + 1] ?? known("")));
  if (call.args.some((arg, at) => DEBUGGER_COMMANDS.test(textOf(arg)) && !isHarmless(at)))
    noteEffect(call.spot, { kind: "code", what: `gives commands to ${call.name}` });
  // `r` and `c` are programs, too.
  return carrier({ ...call, args: call.args.filter((_, at) => !isHarmless(at) && !isHarmless(at - 1)) });
};

const RUNS_AT_KEYS = /(?:execute|become|reload|transform|preview)[\w-]*[:(]/;

/** Shows a list to choose from; options of it run commands about what is chosen. */
export const fzf: Behaviour = (call) => {
  const { name, args, spot } = call;
  const given = readArguments(args, { valued: "bind preview q query f filter d delimiter n with-nth height" });
  if (given.values("bind").some((keys) => keys.type !== "known" || RUNS_AT_KEYS.test(keys.text)))
    noteEffect(spot, { kind: "code", what: `gives ${name} commands for its keys` });
  for (const line of given.values("preview"))
    spot.line.engine.runSource(fillIn(textOf(line), "{}", textOfFlow(spot.input)), spot);
  return OUTPUT;
};

/** A program whose first operand is a line for a shell. */
export function lineWrapper(rules: OptionRules, skip = 0): Behaviour {
  return ({ args, spot }) => {
    const { operands } = readArguments(args, rules);
    const words = operands.slice(skip);
    if (words.length === 0) return OUTPUT;
    return spot.line.engine.runSource(joinLine(words), { ...spot, shell: copyShell(spot.shell) });
  };
}

/** With other rights. What is run is judged as well, for the reason that is given. */
export function elevates(rules: OptionRules): Behaviour {
  return ({ name, args, spot }) => {
    noteEffect(spot, {
      kind: "privilege",
      what: `runs something with other rights, by ${name}`,
      instead: "Do it with your own rights, in the worktree.",
    });
    const given = readArguments(args, { ...rules, stopsAtOperand: name !== "su" });
    for (const line of given.values("c", "command")) spot.line.engine.runSource(line, spot);
    return name === "su"
      ? OUTPUT
      : spot.line.engine.runWords(
          given.operands.filter((word) => !/^\w+=/.test(textOf(word))),
          spot,
        );
  };
}

/** `env -S`: the words of a line stand in its place, options and all, before those that follow. */
function splitString(line: Text, { name, args, spot }: ProgramCall): Flow {
  if (line.type !== "known" || !/^[\w\s./:=,@%+-]*$/.test(line.text)) {
    noteUnknown(spot, `gives ${name} a line to divide: ${describeText(line)}`, "Write the command itself.");
    return OUTPUT;
  }
  const at = args.findIndex((arg) => arg === line || (arg.type === "known" && arg.text.endsWith(line.text)));
  const words = line.text.split(/\s+/).filter(Boolean).map(known);
  return env({ name, args: [...words, ...args.slice(at + 1)], spot });
}

export const env: Behaviour = ({ name: program, args, spot }) => {
  const given = readArguments(args, { valued: "u unset C chdir S split-string", stopsAtOperand: true });
  const shell = copyShell(inFolder(spot, given.values("C", "chdir")).shell);
  const inside = { ...spot, shell };
  for (const name of given.values("u", "unset"))
    if (isOurSetting(textOf(name)))
      noteEffect(spot, { kind: "ours", what: `takes away a setting of an agent or of prloom: ${textOf(name)}` });
  for (const line of given.values("S", "split-string")) return splitString(line, { name: program, args, spot: inside });
  let words = given.operands.filter((word, at) => at > 0 || textOf(word) !== "-");
  for (let [first] = words; first && /^[^=\s]+=/.test(textOf(first)); [first] = words) {
    const text = textOf(first);
    const name = text.slice(0, text.indexOf("="));
    const value: Text = first.type === "known" ? known(text.slice(name.length + 1)) : first;
    shell.variables.set(name, [value]);
    shell.exported.set(name, true);
    judgeAssignment(name.replace(/%%$/, ""), value, inside);
    words = words.slice(1);
  }
  // The environment may hold tokens.
  if (words.length === 0) return showVariables(spot);
  return spot.line.engine.runWords(words, inside);
};
