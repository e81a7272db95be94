import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../testing/random.ts";

/**
 * Commands that find names, make others of them, and use those, drawn from a closed grammar (`forms/drawn.txt`). What uses them
 * is written as `USE`, and as `INTO` for a redirection: a judge sees what changes files there, a shell what prints its arguments.
 */
export interface Drawn {
  readonly form: string;
  /** It looks for everything: that protected files are among it is not held against such a search. */
  readonly isWide: boolean;
}

const PARTS = new Map(
  readFileSync(join(import.meta.dirname, "forms/drawn.txt"), "utf8")
    .split(/^## /m)
    .map((part) => part.trimEnd().split("\n"))
    .map(([name = "", ...lines]) => [name, lines]),
);

type Part = "sources" | "all" | "filters" | "patterns" | "steps" | "before" | "behind" | "folders";

const draw = (part: Part, random: Random): string => random.pick(PARTS.get(part) ?? []);
const drawOrNone = (part: Part, random: Random): string => (random.chance(0.3) ? "" : draw(part, random));

/** Each step by itself, of names that are easily made into others: these are not left to the draw. */
export const SINGLE_STEPS: readonly Drawn[] = (PARTS.get("steps") ?? []).flatMap((step) =>
  ["for f in src/*", "for f in ./*", "find src | while read -r f"].map((loop) => ({
    form: `${loop}; do v1="${step.replaceAll("V", "f")}"; INTO "$v1"; done`,
    isWide: false,
  })),
);

export function drawCommand(random: Random): Drawn {
  const isWide = random.chance(0.12);
  const source = draw(isWide ? "all" : "sources", random);
  const names = random.chance(0.2) ? source : `${source} | ${draw("filters", random)}`;
  const form = random.chance(0.25) ? straight(source, names, random) : looped(names, random);
  return { form: random.chance(0.2) ? `cd ${draw("folders", random)} && ${form}` : form, isWide };
}

/** Without variables. */
function straight(source: string, names: string, random: Random): string {
  const word = `"${drawOrNone("before", random)}{}${drawOrNone("behind", random)}"`;
  const isFind = source.startsWith("find") && !source.includes("-printf");
  return random.pick([
    `${names} | xargs USE`,
    `${names} | xargs -n1 USE`,
    `${names} | xargs -I{} USE ${word}`,
    `USE $(${names})`,
    `(cd ${draw("folders", random)} && ${names}) | xargs USE`,
    ...(isFind ? [`${source} -exec USE ${word} \\;`, `${source} -exec USE {} +`] : []),
  ]);
}

function looped(names: string, random: Random): string {
  const body = inLoop(random);
  return random.pick([
    `${names} | while read -r f; do ${body}; done`,
    `for f in $(${names}); do ${body}; done`,
    `for f in ${draw("patterns", random)}; do ${body}; done`,
    `while IFS= read -r f; do ${body}; done < <(${names})`,
    `f=$(${names} | head -1); if [ -n "$f" ]; then ${body}; fi`,
    `mapfile -t all < <(${names}); for f in "\${all[@]}"; do ${body}; done`,
    `all=(${draw("patterns", random)}); for f in "\${all[@]}"; do ${body}; done`,
    `each() { local f="$1"; ${body}; }; for f in $(${names}); do each "$f"; done`,
    `${names} | xargs -I{} bash -c 'f="$1"; ${body.replaceAll("'", "")}' _ {}`,
    `(cd ${draw("folders", random)} && ${names}) | while read -r f; do ${body}; done`,
  ]);
}

/** Some steps, and what uses what comes out of them. */
function inLoop(random: Random): string {
  const steps: string[] = [];
  let name = "f";
  for (let left = random.between(0, 2); left > 0; left -= 1) {
    const made = draw("steps", random).replaceAll("V", name);
    name = `v${left}`;
    steps.push(`${name}="${made}"`);
  }
  if (random.chance(0.15)) steps.push(`cd ${random.chance(0.2) ? `"$${name}"` : draw("folders", random)}`);
  steps.push(
    `${random.pick(["INTO", "USE"])} "${drawOrNone("before", random)}\${${name}}${drawOrNone("behind", random)}"`,
  );
  return steps.join(random.chance(0.8) ? "; " : " && ");
}
