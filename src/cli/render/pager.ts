import { spawn, spawnSync } from "node:child_process";
import { trustedPath } from "../../kernel/system/find-program.ts";

/** Shows a text on a terminal in the pager that git would use. */
export async function page(cwd: string, text: string): Promise<void> {
  // The checkout, of which `npx` puts folders into PATH, is where agents' work is merged to.
  const env = { LESS: "FRX", LV: "-c", ...process.env, PATH: trustedPath(process.env.PATH) };
  const asked = spawnSync("git", ["var", "GIT_PAGER"], { cwd, env, encoding: "utf8" });
  const pager = asked.status === 0 ? asked.stdout.trim() : "";
  if (pager === "" || pager === "cat") {
    process.stdout.write(text);
    return;
  }
  const child = spawn("sh", ["-c", pager], { cwd, env, stdio: ["pipe", "inherit", "inherit"] });
  // A person who has seen enough ends the pager before it has read everything.
  child.stdin.on("error", () => child.stdin.destroy());
  child.stdin.end(text);
  const code = await new Promise<number | null>((resolve) => {
    child.once("exit", resolve).once("error", () => resolve(127));
  });
  // The shell found no such program.
  if (code === 127) process.stdout.write(text);
}
