import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { dirname, extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { errnoOf } from "../../kernel/errors.ts";

/** A module that cannot be imported, with what to write instead. */
export class ModuleProblem extends Error {
  readonly hint: string;

  constructor(message: string, hint: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.hint = hint;
  }
}

export interface Importing {
  readonly repoRoot: string;
  readonly specifier: string;
  readonly isPath: boolean;
  /** The address of the file that was resolved last. */
  readonly lastFile: string | undefined;
}

const NOT_FOUND = new Set(["ERR_MODULE_NOT_FOUND", "ERR_PACKAGE_PATH_NOT_EXPORTED", "ERR_UNSUPPORTED_DIR_IMPORT"]);
const IS_MODULE = /import statement outside a module|Unexpected token 'export'|'import\.meta' outside a module/;
const CHECK_TIMEOUT_MS = 10_000;

/** What to say about a module that could not be imported: where the error is, and what was probably meant. */
export function problemOf(error: unknown, importing: Importing): unknown {
  const { repoRoot, specifier, isPath } = importing;
  if (!isPath && NOT_FOUND.has(String(errnoOf(error))) && isFile(join(repoRoot, specifier))) {
    const message = `there is no package "${specifier}", but a file of that name; did you mean ./${specifier}?`;
    return new ModuleProblem(message, `Write "module": "./${specifier}": paths begin with "./".`);
  }
  if (!(error instanceof SyntaxError)) return error;
  const place = placeOf(error, importing.lastFile);
  const path = place && shown(repoRoot, place.path);
  const where = [path, place?.line, place?.column].filter((part) => part !== undefined).join(":");
  const message = where === "" ? error.message : `${where}: ${error.message}`;
  if (place && IS_MODULE.test(error.message))
    return new ModuleProblem(message, moduleHint(repoRoot, place.path), error);
  return new Error(message, { cause: error });
}

interface PlaceInModule {
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
}

/** Node puts the place above the message; of ES modules it tells it only when the program dies of it, or is asked to check. */
function placeOf(error: SyntaxError, lastFile: string | undefined): PlaceInModule | undefined {
  const told = placeIn(error.stack ?? "");
  if (told || lastFile === undefined) return told;
  const path = fileURLToPath(lastFile);
  if (/\.[cm]?tsx?$/.test(path)) return { path };
  const { stderr } = spawnSync(process.execPath, ["--check", path], { encoding: "utf8", timeout: CHECK_TIMEOUT_MS });
  // When it finds nothing wrong, the error is in another file.
  return placeIn(stderr ?? "");
}

/** The place in text like `<file>:<line>`, the code, and carets below it. */
function placeIn(text: string): PlaceInModule | undefined {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => line.startsWith("SyntaxError"));
  const [, file, line] = /^(.+):(\d+)$/.exec(lines[0] ?? "") ?? [];
  if (end < 1 || file === undefined) return undefined;
  const carets = lines.slice(2, end).find((one) => /^\s*\^+\s*$/.test(one));
  const path = file.startsWith("file:") ? fileURLToPath(file) : file;
  return { path, line: Number(line), ...(carets === undefined ? {} : { column: carets.indexOf("^") + 1 }) };
}

/** A file of the repository as the config names it. */
function shown(repoRoot: string, path: string): string {
  const inside = relative(repoRoot, path);
  return inside.startsWith("..") ? path : `./${inside.split(sep).join("/")}`;
}

function moduleHint(repoRoot: string, path: string): string {
  const ending = extname(path);
  if (ending === ".cjs" || ending === ".cts") return `Call it ${ending.replace("c", "m")}: ${ending} is CommonJS.`;
  const inside = shown(repoRoot, path);
  const folder = inside.startsWith("./prloom/") ? "prloom" : shown(repoRoot, dirname(path)).replace(/^\.\//, "");
  const remedy = `${folder === "" ? "" : `${folder}/`}package.json with {"type": "module"}`;
  const renamed = `call it ${ending === ".ts" ? ".mts" : ".mjs"}`;
  const culprit = packageOf(repoRoot, path);
  const why = culprit === undefined ? "Node takes it for CommonJS" : `${culprit} says "type": "commonjs"`;
  return `${why}. Make ${remedy}, or ${renamed}.`;
}

/** The package.json that says what the file is. */
function packageOf(repoRoot: string, path: string): string | undefined {
  for (let dir = dirname(path); ; dir = dirname(dir)) {
    const file = join(dir, "package.json");
    if (isFile(file))
      return /"type"\s*:\s*"commonjs"/.test(readFileSync(file, "utf8")) ? shown(repoRoot, file) : undefined;
    if (dir === dirname(dir)) return undefined;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
