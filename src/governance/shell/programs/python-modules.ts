import { contentOf, noteSecrets, reads, store, writes } from "../paths.ts";
import { noteEffect, type Spot } from "../state.ts";
import { OUTPUT } from "../values/flow.ts";
import { describeText, known, startOf, type Text, textOf } from "../values/text.ts";
import { runsProject } from "./fetched.ts";
import { LEADS_ELSEWHERE } from "./outputs.ts";

/** Modules of Python that only show something: the file that they are given, or about the system. */
const READING_MODULES = /^(?:json\.tool|tokenize|ast|dis|calendar|platform|this)$/;

/** Modules of Python that open the browser of the person, or are given code. */
const OPENS = /^webbrowser$/;
const TAKES_CODE = /^timeit$/;

/** Modules of Python that write to where their arguments say. */
const WRITES_ELSEWHERE = /^(?:venv|virtualenv|zipfile|tarfile|compileall|py_compile|c?[Pp]rofile|trace|zipapp)$/;

function judgeModule(name: string, operands: readonly Text[], spot: Spot): void {
  if (name === "pip") spot.line.engine.runWords([known("pip"), ...operands], spot);
  if (OPENS.test(name)) noteEffect(spot, { kind: "sends", what: "opens an address in the browser of the person" });
  if (WRITES_ELSEWHERE.test(name))
    for (const one of operands) if (LEADS_ELSEWHERE.test(startOf(one))) writes(spot, one);
  // It gives all that lies there to anyone who asks.
  if (name === "http.server") for (const one of operands) if (LEADS_ELSEWHERE.test(startOf(one))) contentOf(one, spot);
  if (TAKES_CODE.test(name)) noteEffect(spot, { kind: "code", what: "gives python code that stands in the command" });
}

export function runModule(module: Text, operands: readonly Text[], spot: Spot) {
  const name = textOf(module);
  const [base = ""] = name.split(".");
  judgeModule(name, operands, spot);
  noteSecrets(operands, spot);
  // One that lies here is taken before the one of that name that is Python's own.
  const isOwn = spot.shell.folders.every(
    (folder) => folder !== undefined && [base, `${base}.py`].every((one) => !spot.line.place.look(`${folder}/${one}`)),
  );
  if (!READING_MODULES.test(name) || !isOwn) {
    runsProject(spot, `runs the module ${describeText(module)}`);
    return OUTPUT;
  }
  const [file, target] = operands.filter((one) => !startOf(one).startsWith("-") && !/^\d+$/.test(textOf(one)));
  if (file) reads(spot, file);
  if (target) store(target, OUTPUT, { spot });
  return OUTPUT;
}
