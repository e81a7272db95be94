import type { Behaviour } from "../call.ts";
import {
  absolutePaths,
  descriptorOf,
  inFolder,
  isNowhere,
  noteAddresses,
  noteSecretOperands,
  writes,
} from "../paths.ts";
import { noteEffect, type Spot } from "../state/state.ts";
import { type Flow, FROM, OUTPUT, TERMINAL } from "../values/flow.ts";
import { describeText, known, startOf, type Text, textOf } from "../values/text.ts";
import { runsFetched, runsProject } from "./fetched-code.ts";
import { noteInstructed } from "./instruction-files.ts";
import { LEADS_ELSEWHERE, noteOutputs } from "./outputs.ts";

const SAYS = /^(?:(?:--version|-v|-V)(?: --verbose)?|--help|-h)$/;
/** Tools that say more by `-v` or `-V`, and do their work. */
const WORKS_BY_V =
  /^(?:pytest|py\.test|unittest|tox|nox|rake|ant|ninja|ctest|task|act|pest|pint|phpunit|flake8|sbt|just|run-parts|pre-commit) -[vV]/;

/** Builds, tests, linters: they run what the project says, which cannot be looked into. */
export const builds: Behaviour = ({ name, args, spot: outer }) => {
  const first = textOf(args[0] ?? known(""));
  const line = first.startsWith("-") ? args.slice(0, 3).map(textOf).join(" ") : "";
  if (line !== "" && SAYS.test(line) && !WORKS_BY_V.test(`${name} ${line}`)) return OUTPUT;
  if (name === "java" && args.length === 1 && /^--?version$/.test(first)) return OUTPUT;
  if (name === "dotnet" && /^--(?:list-sdks|list-runtimes|info)$/.test(line)) return OUTPUT;
  if (name === "go" && goOnlyTells(first, args)) return goTells(args, outer);
  const inside = inFolder(outer, foldersNamed(name, args));
  // Of go, all paths count from there.
  const spot = name === "go" ? inside : outer;
  const starts = RUNS_ANOTHER.get(name);
  const program = starts && args.find((arg) => starts.test(startOf(arg)));
  if (program) noteEffect(spot, { kind: "code", what: `makes ${name} run another program: ${describeText(program)}` });
  if (compilesInput(name, args, spot))
    noteEffect(spot, { kind: "code", what: `gives ${name} code that is not in a file` });
  noteOutputs(name, args, spot);
  noteInstructed(name, args, spot);
  for (const path of changedInPlace(name, args)) writes(spot, path);
  noteSecretOperands(args, spot);
  noteAddresses(args, spot);
  if (EXECUTES.has(name)) for (const arg of args) noteElsewhere(arg, spot);
  if (EXECUTES.has(name) || INSTALLS.has(name)) for (const arg of args) runsFetched(name, arg, spot);
  runsProject(inside, `runs ${name}${args[0] ? ` ${textOf(args[0])}` : ""}`);
  if (name === "go") runsGo(args, spot);
  return OUTPUT;
};

const COMPILERS = new Set("gcc g++ cc c++ clang clang++ tcc rustc".split(" "));

/** A program is made of what stands in the command; what only looks at it makes none. */
const compilesInput = (name: string, args: readonly Text[], { input }: Spot): boolean =>
  COMPILERS.has(name) &&
  ((input !== TERMINAL && args.some((arg) => textOf(arg) === "-")) ||
    args.some((arg) => descriptorOf(textOf(arg)) !== undefined)) &&
  !args.some((arg) => /^(?:-E|-fsyntax-only|-S|-M\w*)$/.test(textOf(arg)));

/** Tools that run what lies at a path which they are given: tests, a project, a file of rules. */
const EXECUTES = new Set(
  "tsc pylint turbo next nuxt astro unittest pytest py.test tox nox jest vitest mocha ava tap c8 nyc playwright cypress webpack vite rollup eslint gradle gradlew mvn mvnw ant java dotnet rspec rails rake phpunit pest composer mix swift clojure clj lein flutter dart zig just task make gmake ninja meson ctest run-parts".split(
    " ",
  ),
);
/** Packages run what is in them when they are installed. */
const INSTALLS = new Set("go pip pip3 gem npm pnpm yarn wasmtime wasmer".split(" "));
const NAMES_PROJECT =
  /^--?(?:(?:config|project|rootDir|rootdir|root|file|makefile|directory|prefix|classpath|test-dir|cwd|dir|working-dir|init-script|rcfile)=|(?:javaagent|agentpath):)/;

/** A path that may lead out of the worktree is what is run. */
export function noteElsewhere(arg: Text, spot: Spot): void {
  const text = startOf(arg).replace(NAMES_PROJECT, "");
  if (arg.type !== "known" || !/^(?:\.\.(?:\/|$)|\/)/.test(text) || isNowhere(text)) return;
  // Between slashes, tests are chosen by what they are called.
  if (/^\/.*\/$/.test(text) && spot.line.place.look(text.slice(0, -1)) === undefined) return;
  for (const path of absolutePaths(known(text), spot))
    noteEffect(spot, { kind: "runs", what: `runs what is in ${describeText(path)}`, path });
}

const COMPILER =
  /^(?:-wrapper$|-fplugin|--?specs|-B|-fuse-ld=.*\/|--ld-path|-load$|-Xclang=-load|--config=|-fpass-plugin|-Wl,-?-?plugin)/;
const GO = /^--?(?:exec|toolexec|vettool|overlay)(?:=|$)|-ext(?:ld|ar)[= ]/;

/** Options by which a tool starts a program, or loads one into itself, that stands in the command. */
const RUNS_ANOTHER: ReadonlyMap<string, RegExp> = new Map([
  ...["gcc", "g++", "cc", "c++", "clang", "clang++"].map((name): [string, RegExp] => [name, COMPILER]),
  ["go", GO],
  ...["cargo", "rustc"].map((name): [string, RegExp] => [name, /^(?:-C)?\s*linker=|codegen-backend/]),
  ["ld", /^--?plugin/],
  ["pylint", /^--init-hook/],
  ["bazel", /^--run_under/],
  ["mvn", /^-Dexec\.executable=/],
  ...["latex", "pdflatex", "xelatex", "lualatex"].map((name): [string, RegExp] => [name, /^\\/]),
  ["cmake", /^-D\w*(?:COMPILER|LAUNCHER|LINKER)(?::\w+)?=.*[\s/;]/],
]);

const IN_FOLDER: ReadonlyMap<string, RegExp> = new Map([
  ["go", /^--?C(?:=|$)/],
  ["gradle", /^(?:-p|--project-dir)(?:=|$)/],
  ["gradlew", /^(?:-p|--project-dir)(?:=|$)/],
  ["flutter", /^-C$/],
  ["swift", /^--package-path(?:=|$)/],
]);

/** The folder in which a tool is told to work; the last one counts. */
function foldersNamed(name: string, args: readonly Text[]): Text[] {
  const option = IN_FOLDER.get(name);
  const at = option ? args.findLastIndex((arg) => option.test(startOf(arg))) : -1;
  if (at < 0) return [];
  const text = startOf(args[at] as Text);
  const folder = text.includes("=") ? known(text.slice(text.indexOf("=") + 1)) : args[at + 1];
  return folder ? [folder] : [];
}

/** Options with which a tool changes the files that it is given, and tools that always do. */
const IN_PLACE = new Set(
  "-w -i --write --fix --in-place --inplace --apply --unsafe-fixes --autocorrect -a -A -F fix format fmt".split(" "),
);
const ALWAYS_IN_PLACE = new Set(
  "black isort rustfmt ormolu swift-format pyupgrade docformatter reorder-python-imports pint stylua swiftformat mdformat".split(
    " ",
  ),
);

/** Programs that write their last operand. */
const WRITES_LAST = new Set("convert magick ffmpeg wkhtmltopdf wkhtmltoimage cwebp".split(" "));

/** What of the files that a tool changes may lie elsewhere. */
function changedInPlace(name: string, args: readonly Text[]): Text[] {
  if (WRITES_LAST.has(name)) return args.slice(-1).filter((arg) => !startOf(arg).startsWith("-"));
  if (!ALWAYS_IN_PLACE.has(name) && !args.some((arg) => IN_PLACE.has(textOf(arg)))) return [];
  return args.filter((arg) => /^(?:\/|\.\.(?:\/|$)|~)/.test(startOf(arg)));
}

/** What go only tells about modules and packages: it changes go.mod for others, and runs nothing of theirs unless it builds them. */
const GO_LOOKS = /^(?:list|mod (?:graph|why|verify))(?: |$)/;
const GO_BUILDS = /^--?(?:export|compiled|toolexec|overlay|modfile|mod=mod|exec)\b/;

const goOnlyTells = (sub: string, args: readonly Text[]): boolean =>
  sub === "version" ||
  sub === "doc" ||
  sub === "help" ||
  (GO_LOOKS.test(args.slice(0, 2).map(textOf).join(" ")) &&
    !args.some((arg) => arg.type === "unknown" || GO_BUILDS.test(startOf(arg)))) ||
  (sub === "env" && !args.some((arg) => arg.type !== "known" || /^--?[wu]\b/.test(arg.text)));

/** It keeps what it installs in a folder of the home, unless that is set. */
function goTells(args: readonly Text[], { shell, line }: Spot): Flow {
  const isAsked = args.map(textOf).join(" ") === "env GOPATH" && !shell.variables.has("GOPATH");
  return isAsked ? { text: `${line.place.home}/go\n`, from: FROM.program } : OUTPUT;
}

/** `go run` takes files, folders and packages; `go env -w` changes the settings of the person. */
function runsGo([sub, ...rest]: readonly Text[], spot: Spot): void {
  const word = textOf(sub ?? known(""));
  if (word === "env" && rest.some((arg) => /^--?[wu]$/.test(textOf(arg))))
    noteEffect(spot, { kind: "ours", what: "changes settings of the person with go env" });
  if (word === "install" && rest.some((arg) => textOf(arg).includes("@")))
    noteEffect(spot, {
      kind: "ours",
      what: "changes programs of the person with go install",
      instead: "Run it without installing it: go run <package>@<version>",
    });
  if (word === "fix" || (word === "mod" && textOf(rest[0] ?? known("")) === "edit"))
    for (const arg of rest) if (LEADS_ELSEWHERE.test(startOf(arg))) writes(spot, arg);
  if (word === "generate" || word === "test") for (const arg of rest) noteElsewhere(arg, spot);
  if (word !== "run") return;
  const target = rest.find((arg) => !startOf(arg).startsWith("-"));
  if (target && /^(?:\.{0,2}\/|.*\.go$)/.test(startOf(target)))
    for (const path of absolutePaths(target, spot))
      noteEffect(spot, { kind: "runs", what: `runs ${describeText(path)}`, path });
}

/** Linters that can fix what they find. */
export const linter =
  (readsOnly: RegExp, writesWith: RegExp): Behaviour =>
  (call) => {
    const words = call.args.map(textOf);
    if (
      words.some((word) => writesWith.test(word)) ||
      !(words.length === 0 || words.some((word) => readsOnly.test(word)))
    )
      return builds(call);
    return OUTPUT;
  };
