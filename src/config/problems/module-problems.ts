import { didYouMean } from "./nearest.ts";
import { keysAt, listProblems, type Path, scopesOf, type ValueProblem, valueAt } from "./references.ts";

/** Bridges that are always there, and the one that the key `github` switches on. */
const OWN_BRIDGES = ["prloom-core", "local", "notify", "github"];

/** Names that both a key and its global twin have. Case aside: state files lie on disks that do not tell case apart. */
function clashes(value: unknown, key: "plugins" | "bridges", globalKey: string): ValueProblem[] {
  const byFolded = new Map<string, Path>();
  const taken = [
    ...keysAt(value, [globalKey]).map((name): Path => [globalKey, name]),
    ...scopesOf(value).flatMap((scope) => keysAt(value, [...scope, key]).map((name): Path => [...scope, key, name])),
  ];
  return taken.flatMap((path): ValueProblem[] => {
    const folded = String(path.at(-1)).toLowerCase();
    const other = byFolded.get(folded);
    if (other === undefined) byFolded.set(folded, path);
    // A preset says something about the entry of the file by giving its name.
    if (other === undefined || (path[0] === "presets" && other[0] !== globalKey && other.at(-1) === path.at(-1)))
      return [];
    return [{ path, message: `has the same name as ${other.join(".")}; give it another` }];
  });
}

function bridgeNameProblems(value: unknown): ValueProblem[] {
  const keys: Path[] = [["globalBridges"], ...scopesOf(value).map((scope) => [...scope, "bridges"])];
  return keys.flatMap((key) =>
    keysAt(value, key).flatMap((name): ValueProblem[] => {
      const path = [...key, name];
      if (OWN_BRIDGES.includes(name))
        return [{ path, message: "is a bridge of prloom's own; give yours another name" }];
      if (key[0] === "presets" || valueAt(value, [...path, "module"]) !== undefined) return [];
      return [{ path, message: `needs a module: prloom has no bridge of its own called "${name}"` }];
    }),
  );
}

/** Entries of presets that change nothing because the file has no such entry, and that bring no module of their own. */
function presetProblems(value: unknown, key: "plugins" | "bridges"): ValueProblem[] {
  const known = keysAt(value, [key]);
  return keysAt(value, ["presets"]).flatMap((preset) =>
    keysAt(value, ["presets", preset, key]).flatMap((name): ValueProblem[] => {
      const path = ["presets", preset, key, name];
      if (known.includes(name) || valueAt(value, [...path, "module"]) !== undefined) return [];
      if (key === "bridges" && OWN_BRIDGES.includes(name)) return [];
      return [{ path, message: `needs a module: ${key} has no "${name}" to change${didYouMean(name, known)}` }];
    }),
  );
}

function orderProblems(value: unknown): ValueProblem[] {
  const plan = scopesOf(value).flatMap((scope) => {
    const known = [...new Set([...keysAt(value, ["plugins"]), ...keysAt(value, [...scope, "plugins"])])];
    return listProblems(value, { path: [...scope, "pluginOrder"], kind: "plugin", known });
  });
  const known = keysAt(value, ["globalPlugins"]);
  return [...plan, ...listProblems(value, { path: ["globalPluginOrder"], kind: "global plugin", known })];
}

/** What is wrong with the names of plugins and bridges, and with what refers to them. */
export function moduleProblems(value: unknown): ValueProblem[] {
  return [
    ...clashes(value, "plugins", "globalPlugins"),
    ...clashes(value, "bridges", "globalBridges"),
    ...bridgeNameProblems(value),
    ...presetProblems(value, "plugins"),
    ...presetProblems(value, "bridges"),
    ...orderProblems(value),
  ];
}
