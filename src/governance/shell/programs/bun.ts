import type { Behaviour } from "../call.ts";
import { readArguments } from "../options.ts";
import { inFolder, writes } from "../paths.ts";
import { noteEffect } from "../state/state.ts";
import { OUTPUT } from "../values/flow.ts";
import { known, startOf, type Text, textOf } from "../values/text.ts";
import { noteElsewhere } from "./builds.ts";
import { runsProject } from "./fetched-code.ts";
import { LEADS_ELSEWHERE, noteOutputs } from "./outputs.ts";
import { isUnsafeRegistry } from "./packages.ts";
import { inlineCode, interpreter, runsTool } from "./shells.ts";

const VALUED = "e eval p print cwd c config F filter env-file r preload import-map lock registry";

const WORKS =
  /^(?:install|i|a|add|remove|rm|update|test|build|pm|init|create|link|unlink|outdated|upgrade|audit|patch|fmt|lint|check|task|cache|compile|bench|doc|coverage|types|bundle|serve|uninstall|vendor|jupyter)$/;
/** Commands that write the files they are given, unless they only check them. */
const CHANGES = /^(?:fmt|bundle|lint --fix)$/;

const script = interpreter({
  inline: ["e", "eval", "p", "print"],
  valued: "c config cwd",
  loads: ["r", "preload", "require", "import"],
});

/** A package is called by its name alone: `npm:eslint`. */
const withoutRegistry = (arg: Text): Text =>
  arg.type === "known" ? known(arg.text.replace(/^(?:npm|jsr):\/?/, "")) : arg;

/** Bun and Deno are interpreters, package managers and runners in one; options may stand before the command. */
export const bun: Behaviour = (call) => {
  const { name, args } = call;
  const end = args.findIndex((arg) => textOf(arg) === "--");
  const given = readArguments(end < 0 ? args : args.slice(0, end), { valued: VALUED });
  const spot = inFolder(call.spot, given.values("cwd"));
  const [first, ...operands] = given.operands;
  const sub = textOf(first ?? known(""));
  const rest = first ? args.slice(args.indexOf(first) + 1) : [];
  if (args.some((arg) => textOf(arg).startsWith("data:"))) return inlineCode(name, spot);
  noteOutputs(name, args, spot);
  for (const file of given.values("c", "config", "r", "preload", "import-map", "lock")) noteElsewhere(file, spot);
  if (given.values("registry").some((where) => isUnsafeRegistry(textOf(where))))
    noteEffect(spot, { kind: "code", what: `installs what anyone on the way can change, with ${name}` });
  if (/^(?:run|x|exec)$/.test(sub)) return runsTool({ ...call, args: rest.map(withoutRegistry), spot });
  if (name === "deno" && sub === "publish" && !given.has("dry-run"))
    noteEffect(spot, { kind: "sends", what: "deno publish changes something in a package registry" });
  if (sub === "task" && given.has("eval")) for (const line of rest.slice(-1)) spot.line.engine.runSource(line, spot);
  if (
    args.some((arg) => /^https?:/.test(textOf(arg))) &&
    /^(?:test|install|add|compile|task|serve|bench|https?:.*)?$/.test(sub)
  )
    noteEffect(spot, { kind: "code", what: `runs code that comes from elsewhere with ${name}` });
  if (sub === "eval" || sub === "repl") return inlineCode(name, spot);
  if (!WORKS.test(sub)) return script({ ...call, spot });
  const changes = CHANGES.test(given.has("fix") ? `${sub} --fix` : sub) && !given.has("check");
  for (const file of operands)
    if (changes && LEADS_ELSEWHERE.test(startOf(file))) writes(spot, file);
    else noteElsewhere(file, spot);
  runsProject(spot, `runs ${name} ${sub}`);
  return OUTPUT;
};
