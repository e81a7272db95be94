import { type Text, textOf } from "../values/text.ts";
import { AGENTS } from "./agents.ts";

const NAMES = new Set([...AGENTS, "prloom"]);

/** The name of a package or program without its version: `prloom@latest`. */
export function withoutVersion(name: string): string {
  const from = name.lastIndexOf("/") + 1;
  const at = name.slice(from).search(/(?<=[^@])@/);
  return at < 0 ? name : name.slice(0, from + at);
}

export const isAgentOrOurs = (name: string): boolean => NAMES.has(name);

/** An agent or prloom itself by the path of its package, which an interpreter may be given. */
export function installedProgram(file: Text): string | undefined {
  const path = textOf(file).replaceAll("\\", "/");
  const at = path.lastIndexOf("node_modules/");
  if (at < 0) return undefined;
  const [name = "", ...rest] = path
    .slice(at + "node_modules/".length)
    .split("/")
    .filter((part) => part !== "." && part !== "" && !part.startsWith("@"));
  const program = name === ".bin" ? (rest[0] ?? "") : name;
  return isAgentOrOurs(program) ? program : undefined;
}
