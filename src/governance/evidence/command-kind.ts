import type { Checkpoint } from "../graph/schema.ts";
import type { EffectTree } from "../shell/effects.ts";

export type CommandKind = Exclude<Checkpoint["kind"], "change">;

/** Options, some of which are followed by a value: the name of a package may be `test`. With `-n` and `-h` nothing runs. */
const VALUED = "--?(?:w|workspace|F|filter|C|prefix|dir|cwd|f|p|package|project|manifest-path)";
const OPTIONS = String.raw`(?:${VALUED}\s+[^-\s]\S*\s+|(?!(?:${VALUED}|-[hn])\s)[-+]\S+\s+)*`;
const RUN = String.raw`${OPTIONS}(?:run\s+${OPTIONS})?`;

/** Words before the program itself: variables, wrappers, package runners. */
const BEFORE =
  /^(?:\w+=\S*\s+|(?:env|time|nice|timeout\s+\S+)\s+|(?:npx|bunx|pnpm exec|yarn exec|uv run|poetry run|bundle exec)\s+(?:-\S+\s+)*)*/;
/** A program may be named by its place: that of a project's own is in `node_modules` or `.venv`. */
const PLACE = String.raw`^(?:\S*\/)?`;
const TEST = new RegExp(
  String.raw`${PLACE}(?:(?:npm|pnpm|yarn(?:\s+workspace\s+\S+)?|bun|deno|go|cargo|dotnet|mvnw?|gradlew?|swift|mix|make|just|rake|rails|nx|turbo|zig build)\s+${RUN}(?:test|tests|t|check|spec)(?:[:\s-]|$)|node\s+(?:\S+\s+)*--test\b|python[\d.]*\s+-m\s+(?:pytest|unittest)\b|(?:pytest|vitest|jest|mocha|ava|tap|playwright\s+test|cypress\s+run|rspec|phpunit|ctest|tox|nox)(?:\s|$))`,
);
const BUILD = new RegExp(
  String.raw`${PLACE}(?:(?:npm|pnpm|yarn(?:\s+workspace\s+\S+)?|bun)\s+${RUN}(?:build|compile|lint|typecheck|check)(?:[:\s]|$)|(?:go|cargo|dotnet|swift|zig|docker)\s+${OPTIONS}(?:build|vet|clippy)\b|(?:mvnw?|gradlew?)\s+(?:\S+\s+)*(?:build|compile|package|assemble)\b|(?:make|cmake|ninja|meson|tsc|webpack|rollup|vite\s+build|esbuild|gcc|g\+\+|clang|javac|rustc|biome|eslint|prettier|ruff|mypy)(?:\s|$))`,
);

/** What a shell command is for, by the commands in it: tests count more than builds, and both more than git. */
export function kindOfCommand(tree: EffectTree): CommandKind | undefined {
  const kinds = new Set([...commandsIn(tree)].map(kindOf));
  return (["test", "build", "git"] as const).find((kind) => kinds.has(kind));
}

function* commandsIn(tree: EffectTree): Generator<EffectTree> {
  yield tree;
  for (const inner of tree.inner) yield* commandsIn(inner);
}

export const isTestCommand = (command: string): boolean => TEST.test(command.replace(BEFORE, ""));

function kindOf({ command, effects }: EffectTree): CommandKind | undefined {
  const own = command.replace(BEFORE, "");
  if (isTestCommand(command)) return "test";
  if (BUILD.test(own)) return "build";
  // A git command that only looks is not evidence of work.
  const isChange = effects.some(({ kind, path }) => kind !== "reads" && path === undefined);
  return /^git\s/.test(own) && isChange ? "git" : undefined;
}
