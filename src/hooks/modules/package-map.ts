import { readCheckedOut } from "../../kernel/files.ts";

/** All that a package.json could mean by a name (`#part`, or the package's own name and what follows it), whatever the conditions. */
export function targetsIn(manifest: string, name: string): string[] {
  const { name: own, imports, exports }: Manifest = JSON.parse(readCheckedOut(manifest) ?? "{}");
  if (name.startsWith("#")) return targetsOf(imports, name);
  if (own === undefined || (name !== own && !name.startsWith(`${own}/`))) return [];
  const sub = `.${name.slice(own.length)}`;
  return hasPaths(exports) ? targetsOf(exports, sub) : sub === "." ? leavesOf(exports) : [];
}

interface Manifest {
  readonly name?: string;
  readonly imports?: unknown;
  readonly exports?: unknown;
}

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === "object" && value !== null ? Object.entries(value) : [];
const hasPaths = (map: unknown): boolean => entriesOf(map).some(([key]) => key.startsWith("."));

function targetsOf(map: unknown, name: string): string[] {
  return entriesOf(map).flatMap(([key, value]) => {
    const [before = "", after] = key.split("*");
    if (after === undefined) return key === name ? leavesOf(value) : [];
    if (!name.startsWith(before) || !name.endsWith(after) || name.length < key.length) return [];
    const star = name.slice(before.length, name.length - after.length);
    return leavesOf(value).map((target) => target.replaceAll("*", star));
  });
}

function leavesOf(value: unknown): string[] {
  return typeof value === "string" ? [value] : entriesOf(value).flatMap(([, one]) => leavesOf(one));
}
