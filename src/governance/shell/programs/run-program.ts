import { runFlow } from "../builtins.ts";
import type { Behaviour, Call } from "../call.ts";
import { type Flow, FROM, OUTPUT } from "../flow.ts";
import { absolutePaths, writtenBefore } from "../paths.ts";
import { note } from "../state.ts";
import { known, type Text } from "../text.ts";
import { INTERPRETERS } from "./shells.ts";
import { PROGRAMS } from "./table.ts";

/** A program by its name, or by a path that ends with it. */
export function runProgram(call: Call): Flow {
  const { name, args, spot } = call;
  const base = name.replace(/^.*\//, "");
  if (name.includes("/")) {
    const made = writtenBefore(known(name), spot);
    if (made && (made.text !== undefined || made.from & (FROM.network | FROM.decoded))) return runFlow(made, spot);
  }
  const behaviour = behaviourOf(base);
  if (behaviour) return behaviour({ name: base, args, spot });
  const [path] = name.includes("/") ? absolutePaths(known(name), spot) : [];
  note(spot, { kind: "runs", what: `runs ${name}`, path });
  carried(args, call);
  return OUTPUT;
}

export function behaviourOf(base: string): Behaviour | undefined {
  const found = PROGRAMS.get(base);
  if (found) return found;
  const harms = base.startsWith("mkfs.") || base.startsWith("fsck.") ? PROGRAMS.get("mkfs") : undefined;
  return harms ?? INTERPRETERS.find(([names]) => names.test(base))?.[1];
}

/** A program that is not known may run what stands in its arguments: that is judged as if it did. */
function carried(args: readonly Text[], { spot }: Call): void {
  for (const [at, arg] of args.entries()) {
    if (arg.type !== "known") continue;
    const text = arg.text.trim();
    const value = /^--?[\w-]+=(.*)$/s.exec(text)?.[1] ?? text;
    const [first = ""] = value.split(/\s+/);
    const base = first.replace(/^.*\//, "");
    if (base === "" || !isCommand(base)) continue;
    if (/\s/.test(value)) spot.line.engine.runSource(known(value), spot);
    else if (at < args.length - 1 || base === value)
      spot.line.engine.runWords([known(value), ...args.slice(at + 1)], spot);
    if (!/\s/.test(value)) break;
  }
}

/** Names that are commands only together with what follows; others are words of many programs. */
const WORDS =
  /^(?:test|build|run|start|watch|find|sort|file|host|which|info|list|link|split|look|format|install|script|env|time|at|date|dir|view|make|service|mount|expect|ts|op|pass|fix|init|pr|id|w|users|last|free|top|join|cut|less|more|size|reset|port|batch|cp|mv|rm|security|code|go|continue|interpreter|llm|pi|amp|cursor|node|python|python3|bun|deno|npm|pnpm|yarn|git|cargo|docker|bash|sh|zsh)$/;

function isCommand(base: string): boolean {
  return (
    behaviourOf(base) !== undefined &&
    (!WORDS.test(base) || /^(?:rm|mv|cp|git|bash|sh|zsh|node|python|python3)$/.test(base))
  );
}
