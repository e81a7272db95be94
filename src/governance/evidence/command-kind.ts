import type { Checkpoint } from "../graph/schema.ts";
import type { EffectTree } from "../shell/effects.ts";

export type CommandKind = Exclude<Checkpoint["kind"], "change">;

/** Words before the program itself: variables, wrappers, package runners. */
const BEFORE =
  /^(?:\w+=\S*\s+|(?:env|time|nice|timeout\s+\S+|npx|bunx|pnpm exec|yarn exec|uv run|poetry run|bundle exec)\s+)*/;
const TEST =
  /^(?:(?:npm|pnpm|yarn|bun|deno|go|cargo|dotnet|mvn|gradle|\.\/gradlew|\.\/mvnw|swift|mix|make|just|rake|zig build)\s+(?:run\s+)?(?:test|tests|t|check|spec)(?:[:\s-]|$)|node\s+(?:\S+\s+)*--test\b|python3?\s+-m\s+(?:pytest|unittest)\b|(?:pytest|vitest|jest|mocha|ava|tap|playwright\s+test|cypress\s+run|rspec|phpunit|ctest|tox|nox)(?:\s|$))/;
const BUILD =
  /^(?:(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:build|compile|lint|typecheck|check)(?:[:\s]|$)|(?:go|cargo|dotnet|swift|zig|docker)\s+(?:build|vet|clippy)\b|(?:mvn|gradle|\.\/gradlew|\.\/mvnw)\s+(?:\S+\s+)*(?:build|compile|package|assemble)\b|(?:make|cmake|ninja|meson|tsc|webpack|rollup|vite\s+build|esbuild|gcc|g\+\+|clang|javac|rustc|biome|eslint|prettier|ruff|mypy)(?:\s|$))/;

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
