import type { Checkpoint } from "../graph/schema.ts";
import type { EffectTree } from "../shell/effects.ts";

export type CommandKind = Exclude<Checkpoint["kind"], "change">;

/** Options, some of which are followed by a value: the name of a package may be `test`. With `-n` and `-h` nothing runs. */
const VALUED =
  "--?(?:w|workspace|F|filter|C|prefix|dir|cwd|f|p|package|project|manifest-path|extra|group|with|target|settings)";
const OPTIONS = String.raw`(?:${VALUED}\s+[^-\s]\S*\s+|(?!(?:${VALUED}|-[hn])\s)[-+]\S+\s+|\w+=\S*\s+|\d+\s+)*`;
const RUN = String.raw`${OPTIONS}(?:(?:run|run-script|task)\s+${OPTIONS})?`;

/** Words before the program itself: variables, wrappers, package runners. */
const BEFORE = new RegExp(
  String.raw`^(?:\w+=\S*\s+|(?:env|time|nice|timeout|stdbuf|nohup|exec|command|cross-env|xvfb-run|c8|nyc)\s+(?:-\S+\s+|\d\S*\s+)*|(?:npx|bunx|pnpm exec|yarn exec|uv run|poetry run|pipenv run|bundle exec)\s+${OPTIONS})*`,
);
/** A program may be named by its place: that of a project's own is in `node_modules` or `.venv`. */
const PLACE = String.raw`^(?:\S*\/)?`;
/** They run a program of a project by its name, too. */
const MANAGERS = String.raw`pnpm|yarn(?:\s+workspace\s+\S+|\s+workspaces(?:\s+foreach)?)?|pdm|pixi|rye|hatch`;
/** Programs that are told what to do, and those that do nothing else. */
const TOLD = String.raw`npm|${MANAGERS}|bun|deno|go|cargo|dotnet|swift|mix|make|just|rake|rails|nx|ng|lerna|turbo|zig(?: build)?|composer|php artisan|flutter|dart|sbt|bazel|lein|stack|cabal|pants|task|ninja|meson|(?:python[\d.]*\s+(?:\S*\/)?)?manage\.py`;
const RUNNERS = String.raw`pytest|unittest|vitest|jest|mocha|ava|tap|pest|playwright\s+test|cypress\s+run|rspec|phpunit|ctest|tox|nox|bats|prove`;
/** Of what is to be done one after the other; what follows `-x` is left out. */
const GOALS = String.raw`(?:(?:-x|--exclude-task)\s+\S+\s+|(?!-x\s|--exclude-task\s)\S+\s+)*`;
/** What only makes tests, builds them or makes them ready, by the names that such a thing has. */
const VERBS = "build|compile|lint|format|clean|prepare|set-?up|install|seed|reset|migrate";
const MAKES = `${VERBS}|make|new|create|add|init|gen|generate`;
const SET_UP = String.raw`${VERBS}|load(?:_\w+)?|purge|schema|deps|up|down|data|fixtures|image|env`;
const MADE = String.raw`\S{0,99}?(?<![\w.])(?:${MAKES})[:-](?:tests?|specs?|unit|e2e)`;
const MADE_READY = String.raw`(?:\S{0,99}[:-])?(?:tests?|spec|unit|e2e)[:-](?:\S{0,99}[:-])?(?:${SET_UP})`;
const NO_TEST = String.raw`(?!(?:${MADE}|${MADE_READY})(?:\s|$))`;
const TEST = new RegExp(
  [
    String.raw`${PLACE}(?:${TOLD})\s+${RUN}${NO_TEST}(?:[\w@./][\w@./-]*[:-])?(?:test|tests|unittests?|t|spec|unit|e2e)(?:[:\s-]|$)`,
    // By the convention of GNU; elsewhere, as with `cargo check`, it looks at types and style.
    String.raw`${PLACE}make\s+${OPTIONS}check(?:\s|$)`,
    String.raw`${PLACE}cargo\s+${OPTIONS}nextest\s+run\b`,
    String.raw`${PLACE}(?:mvnw?|gradlew?)(?!.*\s-x\s+test(?:\s|$))\s+${GOALS}(?:\S*:)?(?:test(?!Classes)\w*|check|verify)(?:\s|$)`,
    String.raw`${PLACE}nx\s+(?:affected|run-many)\s+(?:\S+\s+)*(?:-t|--targets?)[=\s]\s*(?:\S+,)?test\b`,
    String.raw`${PLACE}sbt\s+["']?(?:\S+\/)?test(?:Only|Quick)\b`,
    String.raw`${PLACE}xcodebuild\s+(?:\S+\s+)*test(?:\s|$)`,
    String.raw`${PLACE}(?:node|tsx)\s+(?:\S+\s+)*--test\b`,
    String.raw`^(?:(?:${MANAGERS})\s+${RUN})?(?:(?:\S*\/)?python[\d.]*\s+-m\s+|coverage\s+run\s+-m\s+|php\s+)?(?:\S*\/)?(?:${RUNNERS})(?:\s|$)`,
    // A script of the project's own.
    String.raw`^(?:(?:ba|da|z)?sh\s+)?(?!\S{0,99}?(?<!\w)(?:${MAKES})[_-]tests?\.)(?:\S*[/._-])?(?:run)?tests?\.(?:sh|bash)(?:\s|$)`,
    String.raw`^(?:(?:ba|da|z)?sh\s+)?(?:\.\/)?(?:bin|scripts?)\/(?:run[-_]?)?tests?(?:\s|$)`,
  ].join("|"),
);
const BUILD = new RegExp(
  String.raw`${PLACE}(?:(?:npm|pnpm|yarn(?:\s+workspace\s+\S+)?|bun)\s+${RUN}(?:build|compile|lint|typecheck|check)(?:[:\s]|$)|(?:go|cargo|deno|dotnet|swift|zig|docker)\s+${OPTIONS}(?:build|vet|clippy|check)\b|(?:mvnw?|gradlew?)\s+(?:\S+\s+)*(?:build|compile|package|assemble)\b|(?:make|cmake|ninja|meson|tsc|webpack|rollup|vite\s+build|esbuild|gcc|g\+\+|clang|javac|rustc|biome|eslint|prettier|ruff|mypy)(?:\s|$))`,
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
