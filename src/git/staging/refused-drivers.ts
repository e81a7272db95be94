import { PrloomError } from "../../kernel/errors.ts";
import { type GitSetting, readSettings } from "../shadow/git-settings.ts";

/**
 * Programs that the user's configuration names for git to run on files. They would run with our rights on what an agent
 * wrote, and some run what lies beside it (`python3 -m …`), so outside of the sandbox each is refused that is not known.
 */
export interface RefusedDrivers {
  /** Filters; a path that needs one makes git fail. */
  readonly filters: ReadonlySet<string>;
  /** For git: settings that are stronger than the user's. */
  readonly env: Readonly<Record<string, string>>;
}

/** git-lfs' own, and those that only pass on what they are given. */
const HARMLESS: ReadonlySet<string | undefined> = new Set([
  undefined,
  "",
  "cat",
  "git-lfs clean -- %f",
  "git-lfs smudge -- %f",
  "git-lfs smudge --skip -- %f",
  "git-lfs filter-process",
  "git-lfs filter-process --skip",
]);

const NONE: RefusedDrivers = { filters: new Set(), env: {} };

interface Driver {
  readonly kind: "filter" | "merge";
  readonly name: string;
  readonly values: Map<string, string | undefined>;
}

function driversIn(settings: readonly GitSetting[]): Driver[] {
  const drivers = new Map<string, Driver>();
  for (const { key, value } of settings) {
    const [, kind, name, variable] = /^(filter|merge)\.(.+)\.([^.]+)$/s.exec(key) ?? [];
    if (kind === undefined || name === undefined || variable === undefined) continue;
    const driver = drivers.get(`${kind}.${name}`) ?? { kind: kind as Driver["kind"], name, values: new Map() };
    driver.values.set(variable, value);
    drivers.set(`${kind}.${name}`, driver);
  }
  return [...drivers.values()];
}

/** The settings that make a driver fail; none when it may run. */
function refusal({ kind, name, values }: Driver): [key: string, value: string][] {
  // A merge driver that fails leaves a conflict, which is told like any other.
  if (kind === "merge")
    return [undefined, "true"].includes(values.get("driver")) ? [] : [[`merge.${name}.driver`, "false"]];
  const [clean, smudge, whole] = ["clean", "smudge", "process"].map((variable) => values.get(variable));
  if ([clean, smudge, whole].every((command) => HARMLESS.has(command))) return [];
  // With `required` git fails on a direction that has no command, so one that had none passes on.
  const instead = (command: string | undefined) => (HARMLESS.has(whole) && HARMLESS.has(command) ? "cat" : "false");
  return [
    [`filter.${name}.process`, ""],
    [`filter.${name}.clean`, instead(clean)],
    [`filter.${name}.smudge`, instead(smudge)],
    [`filter.${name}.required`, "true"],
  ];
}

/** Pure: which drivers of these settings must not run on what agents wrote, and how git is kept from it. */
export function refuseDrivers(settings: readonly GitSetting[], trusted: readonly string[]): RefusedDrivers {
  const refused = driversIn(settings)
    .filter(({ name }) => !trusted.includes(name))
    .map((driver) => ({ driver, instead: refusal(driver) }))
    .filter(({ instead }) => instead.length > 0);
  if (refused.length === 0) return NONE;
  const all = refused.flatMap(({ instead }) => instead);
  // By variables and not with `-c`, which takes no name that has a "=" in it.
  const env = Object.fromEntries(
    all.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  );
  const filters = refused.filter(({ driver }) => driver.kind === "filter").map(({ driver }) => driver.name);
  return { filters: new Set(filters), env: { ...env, GIT_CONFIG_COUNT: String(all.length) } };
}

/** The same for a repository as it is configured now. */
export async function refusedDrivers(commonDir: string, trusted: readonly string[] = []): Promise<RefusedDrivers> {
  return refuseDrivers(await readSettings(commonDir), trusted);
}

const FAILED = /^(?:fatal|error): (.*): (?:clean|smudge) filter '?(.+?)'? failed$/m;

/** The error that a refused filter is, out of what git said; undefined when it said something else. */
export function refusedFilter(words: string, { filters }: RefusedDrivers): PrloomError | undefined {
  const [, path, name] = filters.size === 0 ? [] : (FAILED.exec(words) ?? []);
  if (path === undefined || name === undefined || !filters.has(name)) return undefined;
  return new PrloomError(
    "filter-refused",
    `${path} needs git's filter "${name}", which would run with your rights on what an agent wrote.`,
    `If it runs nothing that lies in the repository, add "trustedFilters": ["${name}"] to prloom/config.json; \`prloom doctor\` checks it.`,
  );
}
