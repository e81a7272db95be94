import { readFileSync, realpathSync, statSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { hashCheckedOut } from "../../kernel/files.ts";
import { asFields } from "../../kernel/json-fields.ts";

/** More than any module has. */
const MAX_MODULE_BYTES = 256 * 1024 ** 2;

/** A branch that is checked out can make a link of a module: Node would read a device until no memory is left. */
export function refuseEndless(url: string | URL): "file" | "other" {
  const path = fileURLToPath(url);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat || stat.isDirectory()) return "other";
  if (stat.size > MAX_MODULE_BYTES) throw new Error(`${path} is too large for a module`);
  // Files of /proc have no size; to read one may take forever.
  const isRegular = stat.isFile() && (stat.size > 0 || hashCheckedOut(path) !== undefined);
  if (!isRegular) throw new Error(`${path} is not a regular file`);
  return "file";
}

/** The same for each package.json that Node looks for: above a module, to know what it is, and where packages are. */
export function refuseEndlessPackage(specifier: string, parentURL: string | undefined): void {
  const from = parentURL?.startsWith("file:") ? parentURL : undefined;
  const isPath = /^(?:\.{0,2}\/|file:)/.test(specifier);
  const url = isPath ? URL.parse(specifier, from) : URL.parse(from ?? "");
  if (url?.protocol !== "file:") return;
  const own = refuseAbove(url);
  if (isPath) {
    // Of a link, the file that it leads to counts; and `require` takes a folder for a package.
    refuseAbove(realOf(url));
    refuseNamed(new URL(`${url.pathname}/package.json`, url), "");
    return;
  }
  const parts = specifier.split("/");
  if (own) refuseNamed(own, specifier);
  for (const folder of foldersAbove(url)) {
    const inside = parts.map((_, index) => ["node_modules", ...parts.slice(0, index + 1), "package.json"].join("/"));
    for (const file of inside) refuseNamed(new URL(file, folder), specifier);
  }
}

/** The nearest package.json, which counts for a file. */
function refuseAbove(url: URL): URL | undefined {
  const files = foldersAbove(url).map((folder) => new URL("package.json", folder));
  return files.find((file) => refuseEndless(file) === "file");
}

function realOf(url: URL): URL {
  try {
    return pathToFileURL(realpathSync.native(fileURLToPath(url)));
  } catch {
    // There is none: an import of it will say so.
    return url;
  }
}

/** A package.json, and those that are nearest to the files that it names. */
function refuseNamed(file: URL, specifier: string): void {
  if (refuseEndless(file) !== "file") return;
  const ends = specifier.split("/").map((_, at, parts) => parts.slice(at).join("/"));
  // A star stands for some end of what was asked for. Most files lie in few folders.
  const named = targetsIn(file).flatMap((one) =>
    one.includes("*") ? ends.map((end) => one.replaceAll("*", end)) : one,
  );
  for (const folder of new Set(named.map((path) => path.slice(0, path.lastIndexOf("/") + 1)))) {
    const inside = URL.parse(folder, file.href);
    if (inside?.protocol === "file:") refuseAbove(inside);
  }
}

function targetsIn(file: URL): string[] {
  try {
    const { main, exports, imports } = asFields(JSON.parse(readFileSync(file, "utf8")));
    // `main` may be a folder.
    return stringsIn([main, typeof main === "string" ? `${main}/` : undefined, exports, imports]);
  } catch {
    // Node will say what is wrong with it.
    return [];
  }
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function foldersAbove(url: URL): URL[] {
  const folders = [new URL(".", url)];
  for (let last = folders[0]; last && last.pathname !== "/"; last = folders.at(-1)) folders.push(new URL("..", last));
  return folders;
}
