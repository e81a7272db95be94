import { absolutePaths, worksHere } from "../paths.ts";
import { noteEffect, type Spot } from "../state/state.ts";
import { type Flow, FROM } from "../values/flow.ts";
import { describeText, type Text } from "../values/text.ts";
import { writtenBelow } from "../written.ts";

/** Files that builds and tests run without being told their names. */
const RECIPE =
  /\/(?:(?:GNU|BSD)?makefile|[^/]+\.mk|package\.json|\.npmrc|\.pnpmfile\.c?js|binding\.gyp|[^/]+\.config\.[cm]?[jt]s|\.[a-z]+rc(?:\.[cm]?js)?|gruntfile\.js|gulpfile\.[cm]?[jt]s|setup\.(?:py|cfg)|conftest\.py|sitecustomize\.py|pyproject\.toml|tox\.ini|pytest\.ini|noxfile\.py|cargo\.toml|build\.rs|(?:build|settings)\.gradle(?:\.kts)?|gradlew|mvnw|pom\.xml|build\.xml|build\.sbt|rakefile|gemfile|[^/]+\.gemspec|composer\.json|artisan|mix\.exs|cmakelists\.txt|[^/]+\.cmake|meson\.build|\.?justfile|taskfile\.ya?ml|build(?:\.bazel)?|workspace(?:\.bazel)?|build\.zig|package\.swift|[^/]+\.(?:csproj|targets|props)|dune|deps\.edn|project\.clj|node_modules\/\.bin\/[^/]+)$/i;

/** Code and packages, which they take where they lie. What a browser is given, and headers, are taken over whole from others all the time. */
const CODE =
  /(?<!\.d)\.(?:[cm]?tsx?|cjs|py|rb|go|rs|c|cc|cpp|cxx|java|kts?|scala|cs|fs|php|p[lm]|lua|exs?|erl|hs|ml|swift|sh|bash|jar|class|war|whl|egg|gem|nupkg|crate|so|dylib|dll|node)$|[._-](?:test|spec)\.m?jsx?$/i;

const isFetched = (flow: Flow | undefined): boolean => ((flow?.from ?? 0) & (FROM.network | FROM.decoded)) !== 0;

const noteFetched = (spot: Spot, what: string): void =>
  noteEffect(spot, {
    kind: "code",
    what: `${what}, and this command has fetched or decoded that`,
    instead: "Fetch it in one command, read it, and run it in another one.",
  });

/** Something starts that runs what the project says: not with rules or code that this line has just fetched or decoded. */
export function runsProject(spot: Spot, what: string): void {
  const { files, unpacked, unpackedInto } = spot.line;
  for (const [path, flow] of files)
    if (isFetched(flow) && (RECIPE.test(path) || CODE.test(path))) noteFetched(spot, `${what}, which takes ${path}`);
  const put = unpacked && unpackedInto?.find((into) => spot.shell.folders.some((at) => `${at}/`.startsWith(into)));
  if (put !== undefined) noteFetched(spot, `${what}, which takes what is in ${put}`);
  worksHere(spot, what);
}

/** A file that is run by its name, whatever that is. */
export function runsFetched(name: string, file: Text, spot: Spot): void {
  const { files, unpacked, unpackedInto = [] } = spot.line;
  if (files.size === 0 && !unpacked) return;
  for (const path of absolutePaths(file, spot)) {
    if (path.type === "unknown") continue;
    if (path.type !== "known") {
      if (writtenBelow(path, spot).some(isFetched)) noteFetched(spot, `makes ${name} run ${describeText(path)}`);
      continue;
    }
    const isUnpacked = unpacked && unpackedInto.some((into) => `${path.text}/`.startsWith(into));
    if (isUnpacked || isFetched(files.get(path.text))) noteFetched(spot, `makes ${name} run ${path.text}`);
  }
}
