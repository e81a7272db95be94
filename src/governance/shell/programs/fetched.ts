import { worksHere } from "../paths.ts";
import { noteEffect, type Spot } from "../state.ts";
import { FROM } from "../values/flow.ts";

/** Files that builds and tests run without being told their names. */
const RECIPE =
  /\/(?:(?:GNU|BSD)?makefile|[^/]+\.mk|package\.json|\.npmrc|\.pnpmfile\.c?js|binding\.gyp|[^/]+\.config\.[cm]?[jt]s|\.[a-z]+rc(?:\.[cm]?js)?|gruntfile\.js|gulpfile\.[cm]?[jt]s|setup\.(?:py|cfg)|conftest\.py|sitecustomize\.py|pyproject\.toml|tox\.ini|pytest\.ini|noxfile\.py|cargo\.toml|build\.rs|(?:build|settings)\.gradle(?:\.kts)?|gradlew|mvnw|pom\.xml|build\.xml|build\.sbt|rakefile|gemfile|[^/]+\.gemspec|composer\.json|artisan|mix\.exs|cmakelists\.txt|[^/]+\.cmake|meson\.build|\.?justfile|taskfile\.ya?ml|build(?:\.bazel)?|workspace(?:\.bazel)?|build\.zig|package\.swift|[^/]+\.(?:csproj|targets|props)|dune|deps\.edn|project\.clj)$/i;

/** Something starts that runs what the project says: not with rules that this line has just fetched or decoded. */
export function runsProject(spot: Spot, what: string): void {
  for (const [path, { from }] of spot.line.files)
    if (from & (FROM.network | FROM.decoded) && RECIPE.test(path))
      noteEffect(spot, {
        kind: "code",
        what: `${what}, which takes ${path} for its rules, and this command has fetched or decoded that`,
        instead: "Fetch it in one command, read it, and run it in another one.",
      });
  worksHere(spot, what);
}
