/** `npm run demo`: with `--github` the whole story against a GitHub on this machine, else `prloom demo` with the same arguments. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const args = process.argv.slice(2);
if (args.includes("--github")) {
  const { runGitHubDemo } = await import("./github-demo/demo.ts");
  process.exitCode = await runGitHubDemo(args.filter((arg) => arg !== "--github"));
} else {
  const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
  process.exitCode = spawnSync(process.execPath, [main, "demo", ...args], { stdio: "inherit" }).status ?? 1;
}
