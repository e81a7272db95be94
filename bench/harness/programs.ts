import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProcessCounts } from "./count-process.ts";
import type { Project } from "./project.ts";
import type { Sizes } from "./result.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const counting = fileURLToPath(new URL("./count-process.ts", import.meta.url));

/** The CLI to measure. A built one is copied away, because the next build removes it. */
export function prepareCli(dir: string, sizes: Sizes): string {
  if (sizes.cli !== "built") return sizes.cli;
  execFileSync(process.execPath, [join(root, "scripts", "build.ts")], { cwd: root, stdio: "inherit" });
  const built = join(dir, "dist");
  cpSync(join(root, "dist"), built, { recursive: true });
  cpSync(join(root, "package.json"), join(dir, "package.json"));
  return join(built, "cli.js");
}

/** Runs a program to its end, without reading what it prints; fails when it fails. */
export async function run(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: Readonly<Record<string, string>> },
): Promise<void> {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "ignore", "inherit"] });
  const [code, signal] = await once(child, "exit");
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code ?? signal}`);
}

/** Runs the CLI once, counted. */
export async function runCounted(project: Project, cli: string, args: readonly string[]): Promise<ProcessCounts> {
  const file = join(project.root, "..", "counts.json");
  await run(process.execPath, ["--import", counting, cli, ...args], {
    cwd: project.root,
    env: { ...project.env, PRLOOM_BENCH_COUNTS: file },
  });
  return JSON.parse(readFileSync(file, "utf8")) as ProcessCounts;
}
