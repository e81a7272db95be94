import type { Behaviour } from "../call.ts";
import { readArguments } from "../options.ts";
import { contentOf, noteSecrets, reads, store, writes } from "../paths.ts";
import { noteEffect, noteUnknown, type Spot } from "../state/state.ts";
import { OUTPUT } from "../values/flow.ts";
import { describeText, known, startOf, type Text, textOf } from "../values/text.ts";
import { builds, noteElsewhere } from "./builds.ts";
import { runsProject } from "./fetched-code.ts";
import { LEADS_ELSEWHERE, noteOutputs } from "./outputs.ts";

/** Modules of Python that only show something: the file that they are given, or about the system. */
const READING_MODULES = /^(?:json\.tool|tokenize|ast|dis|calendar|platform|this)$/;

/** Modules of Python that open the browser of the person, or are given code. */
const OPENS = /^(?:webbrowser|antigravity)$/;
const TAKES_CODE = /^timeit$/;

/** Modules of Python that write to where their arguments say. */
const WRITES_ELSEWHERE = /^(?:venv|virtualenv|zipfile|tarfile|compileall|py_compile|c?[Pp]rofile|trace|zipapp)$/;

/** Modules of Python's own that are called like another program, or do less than one. */
const OWN = /^(?:code|test|trace|profile|cProfile|pdb|http\.server|webbrowser|antigravity|timeit|unittest\.__main__)$/;

/** Modules of which the program has another name. */
const PROGRAM_OF: Readonly<Record<string, string>> = {
  awscli: "aws",
  django: "django-admin",
  ensurepip: "pip",
  lib2to3: "2to3",
  sphinx: "sphinx-build",
};

/** Modules and programs that run another module behind `-m`, or a script: they measure it, or stop in it. */
const RUNS_ANOTHER =
  /^(?:coverage|c?[Pp]rofile|trace|i?pdb|runpy|debugpy|scalene|viztracer|memray|pyinstrument|kernprof)$/;

/** `coverage run -m pytest` is `python -m pytest` besides. */
function runsThrough(args: readonly Text[], spot: Spot): void {
  const at = args.findIndex((arg) => /^(?:-m|--module)$/.test(textOf(arg)));
  const module = at < 0 ? undefined : args[at + 1];
  if (module) runModule(module, args.slice(at + 2), spot);
  else for (const arg of args) if (/\.py$/.test(startOf(arg))) noteElsewhere(arg, spot);
}

/** The same, as programs. */
export const pythonRunner: Behaviour = (call) => {
  runsThrough(call.args, call.spot);
  return builds(call);
};

function judgeModule(name: string, operands: readonly Text[], spot: Spot): void {
  if (OPENS.test(name)) noteEffect(spot, { kind: "sends", what: "opens an address in the browser of the person" });
  if (WRITES_ELSEWHERE.test(name))
    for (const one of operands) if (LEADS_ELSEWHERE.test(startOf(one))) writes(spot, one);
  // It gives all that lies there to anyone who asks.
  if (name === "http.server")
    for (const one of readArguments(operands, { valued: "d directory b bind p protocol" }).values("d", "directory"))
      if (LEADS_ELSEWHERE.test(startOf(one))) contentOf(one, spot);
  if (
    TAKES_CODE.test(name) ||
    (RUNS_ANOTHER.test(name) && operands.some((one) => /^(?:-c|--command)\b/.test(textOf(one))))
  )
    noteEffect(spot, { kind: "code", what: "gives python code that stands in the command" });
  if (RUNS_ANOTHER.test(name)) runsThrough(operands, spot);
  noteOutputs(name, operands, spot);
}

/** Where a module of that name lies in the project: one that lies here is taken before others. */
const isOfProject = (base: string, { shell, line }: Spot): boolean =>
  shell.folders.some(
    (folder) =>
      folder === undefined ||
      ["", "src/"].some((at) => [base, `${base}.py`].some((one) => line.place.look(`${folder}/${at}${one}`))),
  );

export function runModule(module: Text, operands: readonly Text[], spot: Spot) {
  const name = textOf(module).replace(/\.__main__$/, "");
  const [base = ""] = name.split(".");
  if (module.type !== "known") noteUnknown(spot, `runs a module that cannot be told: ${describeText(module)}`);
  const isOfOthers = !isOfProject(base, spot);
  judgeModule(name, operands, spot);
  noteSecrets(operands, spot);
  const program = PROGRAM_OF[name] ?? name.toLowerCase().replaceAll("_", "-");
  // What lies here is a script, unless it is called like a program that is known: a folder of that name may be empty.
  if (!READING_MODULES.test(name) && !OWN.test(name)) {
    const words = [known(program), ...operands];
    if (isOfOthers) spot.line.engine.runWords(words, spot);
    else spot.line.engine.runCarried(words, spot, 1);
  }
  if (name === "pip" && isOfOthers) return OUTPUT;
  if (!READING_MODULES.test(name) || !isOfOthers) {
    runsProject(spot, `runs the module ${describeText(module)}`);
    return OUTPUT;
  }
  const [file, target] = operands.filter((one) => !startOf(one).startsWith("-") && !/^\d+$/.test(textOf(one)));
  if (file) reads(spot, file);
  if (target) store(target, OUTPUT, { spot });
  return OUTPUT;
}
