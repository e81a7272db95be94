import type { Behaviour, ProgramCall } from "../call.ts";
import { type Arguments, readArguments } from "../options.ts";
import { absolutePaths, contentOf, descriptorOf, inFolder, noteSecrets, reads, writtenBefore } from "../paths.ts";
import { runFlow, runWritten } from "../scripts.ts";
import { LOADER } from "../state/assignments.ts";
import { setOption, setPositional } from "../state/positional.ts";
import { copyShell, noteEffect, noteUnknown, type Spot } from "../state/state.ts";
import { toItsEnd } from "../state/traps.ts";
import { FROM, OUTPUT, originOf, TERMINAL } from "../values/flow.ts";
import { describeText, known, type Text, textOf } from "../values/text.ts";
import { takeSecrets } from "../values/variables.ts";
import { noteElsewhere } from "./builds.ts";
import { runsProject } from "./fetched-code.ts";
import { noteOutputs } from "./outputs.ts";
import { installedProgram, withoutVersion } from "./own-programs.ts";
import { runModule } from "./python-modules.ts";
import { carrier } from "./wrappers.ts";

/** bash, sh, dash and their like: `-c` text, a file, or what is piped in. */
export const shell: Behaviour = ({ name, args, spot }) => {
  let rest = [...args];
  let [isText, parsesOnly, readsInput] = [false, false, false];
  const inside: Spot = { ...spot, shell: copyShell(spot.shell) };
  while (rest.length > 0) {
    const [first] = rest;
    const text = textOf(first as Text);
    if (text === "--") {
      rest = rest.slice(1);
      break;
    }
    if (!/^[-+]./.test(text)) break;
    rest = rest.slice(1);
    if (/^--(?:rcfile|init-file)/.test(text)) {
      const file = text.includes("=") ? known(text.slice(text.indexOf("=") + 1)) : rest.shift();
      if (file) runFile(file, [], inside);
      continue;
    }
    if (/^--(?:version|help|dump-strings)$/.test(text)) return OUTPUT;
    if (text.startsWith("--")) continue;
    if (text.startsWith("-") && text.includes("c")) isText = true;
    if (text.startsWith("-") && text.includes("s")) readsInput = true;
    if (text.includes("n")) parsesOnly = text.startsWith("-");
    setOption(inside, text, textOf(rest[0] ?? known("")));
    if (/[oO]$/.test(text)) rest = rest.slice(1);
  }
  if (parsesOnly) {
    noteSecrets(rest.slice(0, 1), spot);
    return OUTPUT;
  }
  if (isText) {
    const [source, self = known(name), ...positional] = rest;
    if (!source) return OUTPUT;
    inside.shell.self = self;
    setPositional(inside.shell, positional);
    return toItsEnd(inside, () => spot.line.engine.runSource(source, inside));
  }
  const [file, ...positional] = rest;
  if (readsInput) setPositional(inside.shell, rest);
  if (file && !readsInput && textOf(file) !== "-" && textOf(file) !== "/dev/stdin")
    return runFile(file, positional, inside);
  return spot.input === TERMINAL ? nothingGiven(name, spot) : runFlow(spot.input, inside);
};

function nothingGiven(name: string, spot: Spot) {
  noteUnknown(spot, `opens ${name}, which waits for commands`, "Write the commands themselves.");
  return OUTPUT;
}

/** A script in a file cannot be looked into, unless this line wrote it. */
function runFile(file: Text, positional: readonly Text[], spot: Spot) {
  // What it cannot run, it tells.
  noteSecrets([file], spot);
  const made = writtenBefore(file, spot);
  const isChannel = file.type === "known" && descriptorOf(file.text) !== undefined;
  if (made || isChannel) return runWritten(made ?? contentOf(file, spot), [file, ...positional], spot);
  for (const path of absolutePaths(file, spot))
    noteEffect(spot, { kind: "runs", what: `runs ${describeText(path)}`, path });
  return OUTPUT;
}

/** How an interpreter is given code, and which options take a value. */
interface Interpreter {
  readonly inline: readonly string[];
  readonly valued: string;
  /** Options behind which a module is run, as `python -m`. */
  readonly module?: readonly string[];
  /** Options that load a file before. */
  readonly loads?: readonly string[];
}

export function interpreter({ inline, valued, module = [], loads = [] }: Interpreter): Behaviour {
  const options = [...inline, ...module, ...loads, ...valued.split(" ")].filter(Boolean);
  const rules = { valued: options.join(" "), stopsAtOperand: true, long: "version help" };
  return ({ name, args: all, spot }) => {
    // What stands behind a module is for it.
    const [runs] = readArguments(all, rules).values(...module);
    const isModule = (arg: Text) => arg === runs || (runs && textOf(arg).endsWith(`m${textOf(runs)}`));
    const at = runs ? all.findIndex(isModule) : -1;
    const args = at < 0 ? all : all.slice(0, at + 1);
    const given = readArguments(args, rules);
    const tells = /^php/.test(name) ? ["m", "i", "ini"] : [];
    if (args.length === 1 && given.has("version", "V", "v", "help", "h", ...tells)) return OUTPUT;
    // `-pe` and `-pie` are letters together, the last of which takes the code.
    const code = args.some(
      (arg) =>
        /^-[A-Za-z]*[eEcr]$/.test(textOf(arg)) && inline.some((one) => one.length === 1 && textOf(arg).endsWith(one)),
    );
    if (onlyTells(name, given, spot)) return OUTPUT;
    noteOutputs(name, args.slice(0, args.length - given.operands.length), spot);
    const door = args.find((arg) => /^--inspect\S*=/.test(textOf(arg)));
    if (door && !/=(?:\d+|localhost(?::\d+)?|127\.[\d.]+(?::\d+)?|\[::1\](?::\d+)?)$/.test(textOf(door)))
      noteEffect(spot, { kind: "code", what: `lets other machines run code: ${textOf(door)}` });
    if (given.hasOneOf(inline) || code) return inlineCode(name, spot, args);
    for (const file of given.values(...loads))
      if (!/^(?:node|nodejs)$/.test(name) || !LOADER.test(textOf(file)))
        noteEffect(spot, { kind: "code", what: `makes ${name} load ${describeText(file)}` });
    for (const setting of /^php/.test(name) ? given.values("d", "c") : [])
      noteElsewhere(known(textOf(setting).replace(/^[\w.]+=/, "")), spot);
    for (const file of given.values("test-reporter", "experimental-config-file")) noteElsewhere(file, spot);
    // They take code from their input, as the interpreter itself does.
    if (runs && spot.input !== TERMINAL && spot.input.text !== "" && /^(?:code|asyncio|pdb)$/.test(textOf(runs)))
      return inlineCode(name, spot);
    if (runs) return runModule(runs, all.slice(at + 1), spot);
    const [file] = given.operands;
    if (!file && given.has("test")) {
      runsProject(spot, "runs the tests that it finds");
      return OUTPUT;
    }
    const installed = file && installedProgram(file);
    if (installed !== undefined) spot.line.engine.runWords([known(installed), ...given.operands.slice(1)], spot);
    if (file && textOf(file) !== "-" && textOf(file) !== "/dev/stdin") return runScript({ name, args: [file], spot });
    if (given.has("S") && /^php/.test(name)) {
      for (const folder of given.values("t")) contentOf(folder, spot);
      runsProject(spot, `runs a server with ${name}`);
      return OUTPUT;
    }
    if (spot.input !== TERMINAL) return inlineCode(name, spot);
    return nothingGiven(name, spot);
  };
}

/** Expressions that only tell about the interpreter, or what stands in a JSON file of the project. */
const TELLS: readonly [name: RegExp, code: RegExp][] = [
  [
    /^node(?:js)?$/,
    /^\s*(?:[\d.+*/ -]+|process\.(?:version|versions(?:\.\w+)?|arch|platform|execPath|cwd\(\))|require\((["'])\.{1,2}\/[\w./-]+\.json\1\)(?:\.\w+|\[(["'])[\w./@-]+\2\])*)\s*;?\s*$/,
  ],
  [
    /^python/,
    /^\s*import sys\s*[;\n]\s*print\(sys\.(?:version|version_info(?:\[:?\d\])?|executable|platform)\)\s*;?\s*$/,
  ],
];

const MAX_TELLING = 120;

function onlyTells(name: string, { options }: Arguments, spot: Spot): boolean {
  const [option, ...more] = options;
  const code = option && more.length === 0 && /^(?:p|print|c)$/.test(option.name) ? option.value : undefined;
  // The patterns take long for long strings, and what only tells something is short.
  if (
    code?.type !== "known" ||
    code.text.length > MAX_TELLING ||
    !TELLS.some(([names, plain]) => names.test(name) && plain.test(code.text))
  )
    return false;
  const file = /require\(["'](.*?)["']\)/.exec(code.text)?.[1];
  if (file !== undefined) reads(spot, known(file));
  return true;
}

export function inlineCode(name: string, spot: Spot, args: readonly Text[] = []) {
  let { from } = spot.input;
  for (const arg of args) from |= originOf(arg);
  from &= FROM.network | FROM.decoded;
  const what = from ? `gives ${name} code that came from elsewhere` : `gives ${name} code that stands in the command`;
  const instead = `Write it to a file with the write tool, then run: ${name} <file>`;
  noteEffect(spot, { kind: "code", what, instead, interpreter: from ? undefined : name });
  return OUTPUT;
}

function runScript({ name, args, spot }: ProgramCall) {
  const [file] = args;
  if (!file) return OUTPUT;
  noteSecrets([file], spot);
  const made = writtenBefore(file, spot);
  const isChannel = file.type === "known" && descriptorOf(file.text) !== undefined;
  if (made || isChannel) {
    const flow = made ?? contentOf(file, spot);
    // What was copied from a file of the project is one, whatever else may lie in its place.
    const isWritten = (flow.either ?? [flow]).some((one) => one.text !== undefined || one.from === 0);
    if (isWritten || isChannel || flow.from & (FROM.network | FROM.decoded))
      return inlineCode(name, { ...spot, input: flow });
  }
  for (const path of absolutePaths(file, spot))
    noteEffect(spot, { kind: "runs", what: `runs ${describeText(path)}`, path });
  return OUTPUT;
}

const python = interpreter({ inline: ["c"], valued: "W X check-hash-based-pycs", module: ["m"] });
const node = interpreter({
  inline: ["e", "eval", "p", "print", "pe"],
  valued:
    "C conditions env-file title stack-trace-limit max-old-space-size test-name-pattern test-reporter test-reporter-destination test-concurrency test-timeout experimental-config-file",
  loads: ["r", "require", "import", "loader", "experimental-loader", "openssl-config"],
});

export const INTERPRETERS: readonly [names: RegExp, behaviour: Behaviour][] = [
  [/^(?:ba|da|a|z|k|mk|pdk|ya|po)?sh(?:-?\d[\d.]*)?$|^rbash$|^fish$|^csh$|^tcsh$|^xonsh$|^elvish$|^nu$/, shell],
  [/^(?:python|pypy)\d*(?:\.\d+)*$|^py$|^ipython\d?$|^micropython$/, python],
  [/^(?:node|nodejs|tsx|ts-node|iojs)$/, node],
  [/^perl\d*(?:\.\d+)*$/, interpreter({ inline: ["e", "E"], valued: "I x", loads: ["M", "m"] })],
  [/^ruby\d*(?:\.\d+)*$|^jruby$|^irb$/, interpreter({ inline: ["e"], valued: "I C W x", loads: ["r"] })],
  [/^php\d*(?:\.\d+)*$/, interpreter({ inline: ["r", "B", "R", "E"], valued: "d c z S t" })],
  [/^lua\d*(?:\.\d+)*$|^luajit$/, interpreter({ inline: ["e"], valued: "", loads: ["l"] })],
  [/^Rscript$|^R$|^r$|^littler$/, interpreter({ inline: ["e"], valued: "f file" })],
  [/^julia$/, interpreter({ inline: ["e", "eval", "E", "print"], valued: "J t p project", loads: ["L", "load"] })],
  [
    /^(?:elixir|iex|erl|escript)$/,
    interpreter({ inline: ["e", "eval", "run"], valued: "S pa pz sname name", loads: ["r"] }),
  ],
  [
    /^(?:octave|gnuplot|groovy|scala|kotlin|jshell|ghci?|runghc|ocaml|sbcl|guile|racket|scheme|tclsh|wish|expect|crystal|nim|raku|qjs|gjs|bb|osascript|cscript|wscript)$/,
    interpreter({ inline: ["e", "eval", "c", "E"], valued: "" }),
  ],
  [/^(?:pwsh|powershell)(?:\.exe)?$/, (call) => powershell(call)],
  [/^cmd(?:\.exe)?$/, ({ name, spot }) => inlineCode(name, spot)],
];

/** Everything but a script is code, and options may be shortened. */
function powershell({ name, args, spot }: ProgramCall) {
  const file = args.findIndex((arg) => /^-f(?:i|il|ile)?$/i.test(textOf(arg)));
  if (args.some((arg) => /^-(?:v|version|h|help|\?)$/i.test(textOf(arg)))) return OUTPUT;
  const target = file >= 0 ? args[file + 1] : args.find((arg) => /\.ps1$/i.test(textOf(arg)));
  return target ? runScript({ name, args: [target], spot }) : inlineCode(name, spot);
}

const FROM_ELSEWHERE = /^(?:@?[\w./-]+@)?(?:https?:|git[+:@]|github:|gitlab:|bitbucket:|gist:)/;
/** npm and its like take `owner/repository` as one of GitHub. */
const ON_GITHUB = /^[\w-]+\/[\w.-]+(?:#.*)?$/;

/** A tool of the project that runs another program. */
export const runsTool: Behaviour = ({ name, args, spot: outer }) => {
  const given = readArguments(args, {
    valued: "p package w workspace C prefix call c cwd with from python extra group env-file directory project",
    stopsAtOperand: true,
  });
  const spot = inFolder(outer, given.values("C", "prefix", "cwd", "directory", "project"));
  // Which program has that name, the project or a registry decides.
  if (given.operands.length > 0) runsProject(spot, `runs a program of the project or of a registry with ${name}`);
  for (const file of given.values("env-file")) takeSecrets(file, spot);
  for (const command of given.values("call", "c")) spot.line.engine.runSource(command, spot);
  for (const source of [...given.operands.slice(0, 1), ...given.values("p", "package", "with", "from")])
    if (
      FROM_ELSEWHERE.test(textOf(source)) ||
      (/^(?:p?np[mx]|yarn|bunx)$/.test(name) && ON_GITHUB.test(textOf(source)))
    )
      noteEffect(spot, { kind: "code", what: `runs code that comes from elsewhere: ${describeText(source)}` });
  if (given.operands.length === 1 && textOf(given.operands[0] as Text) === "-") return inlineCode(name, spot);
  const [first] = given.operands;
  if (first?.type === "known" && /\s/.test(first.text)) return spot.line.engine.runSource(first, spot);
  if (first?.type === "known")
    return spot.line.engine.runWords([known(withoutVersion(first.text)), ...given.operands.slice(1)], spot);
  if (first) return spot.line.engine.runWords(given.operands, spot);
  runsProject(spot, "runs a tool of the project");
  return OUTPUT;
};

/** Tools that run programs of the project behind `run` or `exec`, and do other things besides. */
export const runsOrCarries =
  (skip: number): Behaviour =>
  (call) => {
    const given = readArguments(call.args, { valued: "C directory project P", stopsAtOperand: true });
    const spot = inFolder(call.spot, given.values("C", "directory", "project", "P"));
    const [first, ...rest] = given.operands;
    if (!/^(?:run|exec|x)$/.test(textOf(first ?? known("")))) return carrier({ ...call, spot });
    return runsTool({ ...call, args: rest.slice(skip).filter((arg) => textOf(arg) !== "--"), spot });
  };
