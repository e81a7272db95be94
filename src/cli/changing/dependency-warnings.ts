import { nearest } from "../../config/problems/nearest.ts";
import { type Paths, pathsOf } from "../../dispatcher/paths.ts";
import { dependencyCircle } from "../../dispatcher/report/read-circle.ts";
import type { Repository } from "../../git/repository.ts";
import { listDir } from "../../kernel/files.ts";
import { parseSourceKey } from "../../plan/record.ts";
import type { Call } from "../output.ts";
import { reading } from "../plans.ts";

interface Depending {
  readonly id: string;
  /** By `--depends-on`. */
  readonly named: readonly string[];
  /** Under `## Depends on`. */
  readonly listed: readonly string[];
}

/** What of the plans that a new one waits for will keep it from ever starting. */
export async function dependencyWarnings(
  call: Call,
  repo: Repository,
  { id, named, listed }: Depending,
): Promise<string[]> {
  const names = [...named, ...listed];
  if (names.length === 0) return [];
  const circle = await reading({ ...call, repo }, (loom) => dependencyCircle(loom, id));
  const places = [
    ...(listed.length > 0 ? [`\`prloom edit ${id}\` changes its \`## Depends on\``] : []),
    ...(named.length > 0 ? [`prloom/.local/inbox/${id}.json has its \`dependsOn\``] : []),
  ];
  const unknown = unknownDependencies(pathsOf(repo), names);
  return [
    ...unknown,
    ...(unknown.length > 0 ? [`it starts only when all that it waits for is merged; ${places.join(", ")}.`] : []),
    ...(circle ? [`it waits for itself: ${circle.join(" → ")}; ${places.join(", ")}.`] : []),
  ];
}

/** A plan may wait for one that is written later, so this is not a mistake; a misspelt one would wait forever. */
function unknownDependencies(paths: Paths, names: readonly string[]): string[] {
  const inbox = listDir(paths.inbox).flatMap((name) => (name.endsWith(".md") ? [name.slice(0, -3)] : []));
  const known = [...listDir(paths.plans), ...inbox];
  const unknown = [...new Set(names)].filter((name) => !known.includes(name) && parseSourceKey(name) === undefined);
  return unknown.map((name) => {
    const guess = guessAt(name, known);
    return `it waits for "${name}", and there is no such plan yet.${guess}`;
  });
}

function guessAt(name: string, known: readonly string[]): string {
  if (name.includes(",")) return " Name each one by itself: `--depends-on <plan> --depends-on <plan>`.";
  const begins = known.filter((id) => id.startsWith(name));
  const meant = begins.length === 1 ? begins[0] : nearest(name, known);
  return meant === undefined ? "" : ` Did you mean \`${meant}\`?`;
}
