import { statSync } from "node:fs";
import { join } from "node:path";
import { readCheckedOut } from "../../kernel/files.ts";

/** What a repository seems to be tested with, told by its files; nothing of it is run. */
export interface ProjectCommands {
  /** The file that tells. */
  readonly from: string;
  readonly checks: readonly string[];
  /** What a new worktree needs before that. */
  readonly initCommands: readonly string[];
}

interface ProjectFiles {
  has(name: string): boolean;
  text(name: string): string;
}

type Recipe = (files: ProjectFiles) => ProjectCommands | undefined;

/** What the first recipe finds that fits. What a project wraps around its language's tools comes last. */
export function projectCommands(root: string): ProjectCommands | undefined {
  const files: ProjectFiles = {
    has: (name) => statSync(join(root, name), { throwIfNoEntry: false })?.isFile() === true,
    text: (name) => textIn(join(root, name)),
  };
  for (const recipe of RECIPES) {
    const found = recipe(files);
    if (found) return found;
  }
  return undefined;
}

/** A file that is too large, or not a file at all, tells nothing. */
function textIn(path: string): string {
  try {
    return readCheckedOut(path) ?? "";
  } catch {
    return "";
  }
}

const PACKAGE_MANAGERS: readonly [lock: string, check: string, install: string][] = [
  ["pnpm-lock.yaml", "pnpm test", "pnpm install --frozen-lockfile"],
  ["yarn.lock", "yarn test", "yarn install --immutable"],
  ["bun.lock", "bun run test", "bun install --frozen-lockfile"],
  ["bun.lockb", "bun run test", "bun install --frozen-lockfile"],
  ["package-lock.json", "npm test", "npm ci"],
  ["npm-shrinkwrap.json", "npm test", "npm ci"],
];

function node({ has, text }: ProjectFiles): ProjectCommands | undefined {
  const script = testScript(text("package.json"));
  if (script === undefined) return undefined;
  const [lock, check = "npm test", usual = "npm install"] = PACKAGE_MANAGERS.find(([one]) => has(one)) ?? [];
  // Yarn 1 takes no notice of options that it does not know, and would change the file.
  const isYarn1 = lock === "yarn.lock" && /^# yarn lockfile v1\s*$/m.test(text(lock));
  const install = isYarn1 ? "yarn install --frozen-lockfile" : usual;
  const checks = WATCHES_FOR_PEOPLE.test(script) ? [`CI=true ${check}`] : [check];
  return { from: "package.json", checks, initCommands: [install] };
}

/** Goes on until a person ends it, which a check would wait for. */
const WATCHES = /\s--watch(?:All)?(?:=true)?(?=\s|$)|\bvitest (?:watch|dev)\b/;
/** The same, unless it is told that no person is there. */
const WATCHES_FOR_PEOPLE = /\b(?:react-scripts|react-app-rewired|craco) test\b(?!.*--watchAll=false)/;

function testScript(text: string): string | undefined {
  try {
    const { scripts } = JSON.parse(text) as { scripts?: Readonly<Record<string, unknown>> };
    const test = scripts?.test;
    // What `npm init` writes.
    const isTest = typeof test === "string" && !test.includes("no test specified");
    return isTest && !WATCHES.test(test) ? test : undefined;
  } catch {
    // Not a package that npm could read either.
    return undefined;
  }
}

function python({ has, text }: ProjectFiles): ProjectCommands | undefined {
  const isUv = has("uv.lock");
  if (has("tox.ini")) return { from: "tox.ini", checks: ["tox"], initCommands: [] };
  const places: readonly [name: string, sign: RegExp][] = [
    ["pytest.ini", /^/],
    ["conftest.py", /^/],
    ["tests/conftest.py", /^/],
    ["pyproject.toml", /\bpytest\b/],
    ["setup.cfg", /^[ \t]*\[tool:pytest\]/m],
    ["requirements.txt", /^pytest\b(?!-)/m],
    ["requirements-dev.txt", /^pytest\b(?!-)/m],
  ];
  const found = places.find(([name, sign]) => has(name) && sign.test(text(name)));
  if (!found) return undefined;
  const [from] = found;
  if (isUv) return { from, checks: ["uv run pytest"], initCommands: ["uv sync"] };
  return { from, checks: ["python -m pytest"], initCommands: [] };
}

const ONE_FILE: readonly [file: string, check: string][] = [
  ["Cargo.toml", "cargo test"],
  ["go.mod", "go test ./..."],
  ["gradlew", "./gradlew test"],
  ["build.gradle", "gradle test"],
  ["build.gradle.kts", "gradle test"],
  ["mvnw", "./mvnw --quiet test"],
  ["pom.xml", "mvn --quiet test"],
  ["mix.exs", "mix test"],
];

function oneFile({ has }: ProjectFiles): ProjectCommands | undefined {
  const found = ONE_FILE.find(([file]) => has(file));
  return found && { from: found[0], checks: [found[1]], initCommands: [] };
}

const MAKERS: readonly [file: string, program: string][] = [
  ["Makefile", "make"],
  ["makefile", "make"],
  ["GNUmakefile", "make"],
  ["justfile", "just"],
  ["Justfile", "just"],
];

function make({ text }: ProjectFiles): ProjectCommands | undefined {
  for (const [from, program] of MAKERS) {
    const target = ["test", "check"].find((name) => new RegExp(`^${name}\\s*:(?!=)`, "m").test(text(from)));
    if (target !== undefined) return { from, checks: [`${program} ${target}`], initCommands: [] };
  }
  return undefined;
}

const RECIPES: readonly Recipe[] = [node, python, oneFile, make];

/** The lines of a config that say so. */
export function asConfigLines({ checks, initCommands }: ProjectCommands): string {
  const parts = { ...(initCommands.length === 0 ? {} : { initCommands }), checks };
  return Object.entries(parts)
    .map(([key, value]) => `"${key}": ${JSON.stringify(value)}`)
    .join(", ");
}
