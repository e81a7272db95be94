/**
 * Makes `dist/`, which is what the package holds: the CLI and the entry for authors as bundles of one file that need no node_modules, `status` once
 * more as a smaller one and the shim as another (each start is waited for), the prompts, the types, and the licences of what is in it.
 * `--programs <folder>` makes there what can be run alone, for the tests.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const { programs } = parseArgs({ options: { programs: { type: "string" } } }).values;
const dist = resolve(root, programs ?? "dist");

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

function packageJson(dir: string): PackageJson {
  return JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) as PackageJson;
}

/** Names this build: what one of another source has checked is checked again. */
function sourceHash(): string {
  const files = [...globSync(["src/**/*.ts", "scripts/*.ts"], { cwd: root }).sort(), "package-lock.json"];
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(join(root, file)));
  return hash.digest("hex").slice(0, 16);
}

/** Packages written as CommonJS ask for built-ins with `require`, which an ES module does not have. In every part, so it has to be cheap. */
const REQUIRE = "const require = process.getBuiltinModule;";

/** Of a package that does not say so itself: a file of it that only does something when it is called may be left out. */
const withoutSideEffects = (name: string): Plugin => ({
  name: `without side effects: ${name}`,
  setup(build) {
    const asked = Symbol(name);
    build.onResolve({ filter: /^\./ }, async ({ path, pluginData, ...where }) => {
      if (pluginData === asked || !where.importer.includes(`/node_modules/${name}/`)) return undefined;
      return { ...(await build.resolve(path, { ...where, pluginData: asked })), sideEffects: false };
    });
  },
});

/** What only other commands load stays out: `status` never asks for it. */
const onlyStatus: Plugin = {
  name: "only status",
  setup(build) {
    build.onResolve({ filter: /^\./ }, ({ kind, path }) =>
      kind === "dynamic-import" && !/\/(?:program|status)\.ts$/.test(path) ? { path, external: true } : undefined,
    );
  },
};

/** Schemas that are made when they are used: a command uses few of those that it loads. */
const lazySchemas: Plugin = {
  name: "lazy schemas",
  setup(build) {
    build.onResolve({ filter: /^zod$/ }, ({ importer }) =>
      importer.startsWith(join(root, "src/")) ? { path: join(root, "scripts/lazy-zod.ts") } : undefined,
    );
  },
};

/** Built-ins of which only functions are used, most of them never: their modules are loaded when one is called. */
const CALLED_LATE = /^node:(?:child_process|crypto|net|readline|stream\/promises|timers\/promises|worker_threads)$/;

/**
 * Built-ins without an import: to import one, Node makes a module of it, and for that reads each of its members, which loads what
 * they need. That takes longer than to read a thousand plans.
 */
const bareBuiltins = (calledLate?: RegExp): Plugin => ({
  name: "built-ins without an import",
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ kind, path }) =>
      kind === "import-statement" ? { path, namespace: "builtin" } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => {
      const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter(
        (name) => /^\w+$/.test(name) && name !== "default",
      );
      const isLate = calledLate?.test(path) ?? false;
      const get = isLate
        ? "(name) => function (...args) { return new.target ? new (load()[name])(...args) : load()[name](...args); }"
        : "(name) => load()[name]";
      const whole = isLate
        ? "new Proxy({}, { get: (_, name) => load()[name], set: (_, name, value) => Reflect.set(load(), name, value) })"
        : "load()";
      const lines = [
        `const load = () => process.getBuiltinModule("${path}");`,
        `const get = ${get};`,
        ...names.map((name) => `export const ${name} = /* @__PURE__ */ get("${name}");`),
        `export default /* @__PURE__ */ (() => ${whole})();`,
      ];
      return { contents: lines.join("\n") };
    });
  },
});

const SHARED: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node22",
  format: "esm",
  // A package's ES module, where it has one: some CommonJS builds hide their own imports from a bundler.
  mainFields: ["module", "main"],
  // It would make eight hundred strings at each start, for formatting, which we do not use.
  plugins: [withoutSideEffects("jsonc-parser")],
  outdir: dist,
  metafile: true,
  logLevel: "warning",
  // A member that lazy-zod.ts does not have.
  logOverride: { "import-is-undefined": "error" },
  define: { PRLOOM_VERSION: JSON.stringify(packageJson(root).version), PRLOOM_BUILD: JSON.stringify(sourceHash()) },
};

/** In one file: to find and link the parts that a command needs takes longer than to read all of them. */
const PROGRAM: BuildOptions = { ...SHARED, define: { ...SHARED.define, "import.meta.url": "PRLOOM_URL" } };

/** Makes of a module a function that takes its own address and gives what it exports, for src/cli/built.ts. */
function asFunction(file: string): void {
  // One letter of another alphabet, in a comment for instance, and Node keeps the whole text in twice the space.
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const text = readFileSync(file, "utf8").replace(/[^\0-\x7f]/g, escaped);
  const body = text.replace(/^export \{\s*(\w+)(?: as run)?\s*\};$/m, "return { run: $1 };");
  if (body === text) throw new Error(`${file} does not export \`run\`, and that alone.`);
  writeFileSync(file, `((PRLOOM_URL) => { "use strict"; ${REQUIRE}\n${body}\n})\n`);
}

async function bundle(): Promise<Metafile[]> {
  const cli = await build({
    ...SHARED,
    entryPoints: { cli: "src/cli/built.ts" },
    // Older Nodes read it as well, and are told that they are too old.
    target: "node14.13",
    banner: { js: "#!/usr/bin/env node" },
  });
  const main = await build({
    ...PROGRAM,
    entryPoints: { main: "src/cli/run.ts" },
    plugins: [...(SHARED.plugins ?? []), lazySchemas, bareBuiltins()],
  });
  const status = await build({
    ...PROGRAM,
    entryPoints: { status: "src/cli/run.ts" },
    plugins: [...(SHARED.plugins ?? []), onlyStatus, lazySchemas, bareBuiltins(CALLED_LATE)],
  });
  const entries = await build({
    ...SHARED,
    entryPoints: { plugin: "src/plugin.ts", thread: "src/hooks/modules/thread.ts" },
    plugins: [...(SHARED.plugins ?? []), lazySchemas, bareBuiltins()],
    banner: { js: REQUIRE },
  });
  const programs = await build({
    ...SHARED,
    entryPoints: {
      shim: "src/agents/shim/shim.ts",
      "delegate-program": "src/git/delegate/delegate-program.ts",
      opencode: "src/opencode.ts",
    },
  });
  for (const name of ["main.js", "status.js"]) asFunction(join(dist, name));
  return [cli, main, status, entries, programs]
    .map(({ metafile }) => metafile)
    .filter((metafile) => metafile !== undefined);
}

/** `node_modules/…/<package>` of every bundled file, sorted. */
function bundledPackages(metafiles: readonly Metafile[]): string[] {
  const dirs = metafiles
    .flatMap(({ inputs }) => Object.keys(inputs))
    .flatMap((input) => {
      const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
      return match?.[1] === undefined ? [] : [match[1]];
    });
  return [...new Set(dirs)].sort();
}

function licenceOf(dir: string): string {
  const { name, version, license = "see its text" } = packageJson(join(root, dir));
  const file = readdirSync(join(root, dir)).find((each) => /^(licen[cs]e|copying)(\.\w+)?$/i.test(each));
  if (file === undefined) throw new Error(`${name} has no licence file; it cannot be bundled.`);
  const text = readFileSync(join(root, dir, file), "utf8")
    .replace(/\r\n/g, "\n")
    .trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
}

function writeLicences(metafiles: readonly Metafile[]): void {
  const rule = `\n${"-".repeat(80)}\n\n`;
  const licences = bundledPackages(metafiles).map(licenceOf);
  writeFileSync(join(dist, "LICENSES.txt"), ["The bundles in this folder contain:\n", ...licences].join(rule));
}

function makeTypes(): void {
  const compiler = join(root, "node_modules/.bin/tsc");
  execFileSync(compiler, ["-p", join(root, "tsconfig.build.json")], { stdio: "inherit" });
  if (!existsSync(join(dist, "types/plugin.d.ts"))) throw new Error("No types were made for src/plugin.ts.");
}

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
const metafiles = await bundle();
chmodSync(join(dist, "cli.js"), 0o755);
cpSync(join(root, "src/agents/prompts"), join(dist, "prompts"), { recursive: true });
if (programs === undefined) {
  writeLicences(metafiles);
  makeTypes();
}
// In the package its own file says so. Without it each start would parse everything twice to find out.
else writeFileSync(join(dist, "package.json"), '{ "type": "module" }\n');
