import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A project with nothing but the installed package, without network. */
export function install(at: string, tarball: string): void {
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, "package.json"), `{ "name": "author", "private": true, "type": "module" }\n`);
  const how = ["install", "--offline", "--no-audit", "--no-fund", "--silent", tarball];
  execFileSync("npm", how, { cwd: at, encoding: "utf8" });
}

export interface Compiling {
  /** The checkout, for its compiler and its Node types. */
  readonly root: string;
  readonly lib: readonly string[];
  /** Whether the project has Node's types. */
  readonly nodeTypes: boolean;
}

/** Compiles programs, each on its own, strictly and with every declaration checked; gives the errors by file. */
export function compile(
  at: string,
  programs: Readonly<Record<string, string>>,
  { root, lib, nodeTypes }: Compiling,
): Map<string, string[]> {
  if (nodeTypes) {
    const modules = join(at, "node_modules");
    for (const name of ["@types/node", "undici-types"]) {
      cpSync(join(root, "node_modules", name), join(modules, name), { recursive: true });
    }
  }
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(at, name), text);
  const compilerOptions = {
    target: "es2023",
    lib,
    module: "nodenext",
    types: nodeTypes ? ["node"] : [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  };
  writeFileSync(join(at, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const compiler = join(root, "node_modules/.bin/tsc");
  const { stdout } = spawnSync(compiler, ["--pretty", "false"], { cwd: at, encoding: "utf8" });
  const errors = new Map<string, string[]>();
  for (const [, file = "", error = ""] of stdout.matchAll(/^(.+?)\(\d+,\d+\): error (.*)$/gm)) {
    errors.set(file, [...(errors.get(file) ?? []), error]);
  }
  // What belongs to no file is the project's own fault.
  for (const [, error = ""] of stdout.matchAll(/^error (.*)$/gm)) errors.set("tsconfig.json", [error]);
  return errors;
}

/** All declarations of a package. */
export function declarations(at: string): string[] {
  return readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".d.ts"))
    .map((entry) => join(entry.parentPath, entry.name));
}
