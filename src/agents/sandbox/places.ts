import { constants, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { errnoOf, unlessRefused } from "../../kernel/errors.ts";
import { listDir, readCheckedOut } from "../../kernel/files.ts";
import { isWithin } from "../../kernel/paths.ts";
import { findProgram, isAccessible } from "../../kernel/system/find-program.ts";
import type { Mount } from "./args.ts";
import { TOOLCHAINS } from "./toolchains.ts";

/** The path without links, or undefined when nothing is there (or may be looked at). */
export function realOf(path: string): string | undefined {
  return unlessRefused(() => realpathSync.native(path));
}

function isFile(path: string): boolean {
  if (realOf(path) === undefined) return false;
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** A name and what it leads to: programs are called by the one and find their own files by the other. */
function both(path: string): string[] {
  const real = realOf(path);
  return real === undefined ? [] : [...new Set([path, real])];
}

/**
 * All that belongs to a program: for one that was installed as a package everything it was installed with, else the
 * package around it, else the file alone. `most`: folders that are never taken whole, nor what they lie in.
 */
export function packageAround(file: string, most: readonly string[]): string {
  const isTooMuch = (folder: string) => most.some((one) => isWithin(one, folder));
  const parts = file.split(sep);
  const modules = parts.indexOf("node_modules");
  const installed = parts.slice(0, modules + 1).join(sep);
  if (modules > 0 && !isTooMuch(installed)) return installed;
  for (let folder = dirname(file); !isTooMuch(folder) && folder !== sep; folder = dirname(folder)) {
    if (isFile(join(folder, "package.json"))) return folder;
  }
  return file;
}

/** What an agent of the config is started with. */
export interface StartedProgram {
  readonly command: string;
  readonly args?: readonly string[];
}

/** Files that the config names for the start of an agent: its program, and scripts among its arguments. */
function namedFiles(started: StartedProgram, path: string, cwd: string): string[] {
  const words = started.args === undefined ? started.command.split(/\s+/) : [started.command, ...started.args];
  const files = words
    .map((word) => word.replace(/^["']|["']$/g, ""))
    .filter((word) => isAbsolute(word) && isFile(word));
  const program = findProgram(words[0] ?? "", path, cwd);
  return program === undefined ? files : [program, ...files];
}

export interface PlaceOptions {
  /** The user's home, and that of the user we really are when another was given to us. */
  readonly homes: readonly string[];
  readonly path: string;
  readonly cwd: string;
  /** Folders that are never shown as a whole. */
  readonly never: readonly string[];
  /** Folders that are seen anyway, or that agents write to: a link there must not decide what is shown. */
  readonly own: readonly string[];
}

function isOwn(path: string, { own }: PlaceOptions): boolean {
  return own.some((one) => isWithin(path, one));
}

function linkOf(file: string): Mount[] {
  const real = realOf(file);
  return real === undefined || real === file ? [] : [{ kind: "link", path: file, to: real }];
}

/** What the program of an agent needs to be read, wherever it is installed. */
export function programPlaces(started: StartedProgram, options: PlaceOptions): Mount[] {
  const files = namedFiles(started, options.path, options.cwd).filter((file) => !isOwn(file, options));
  const read = files.flatMap((file): Mount[] => {
    const real = realOf(file);
    return real === undefined ? [] : [{ kind: "read", path: packageAround(real, options.never) }];
  });
  return [...read, ...files.flatMap(linkOf)];
}

/** Versions of one tool that are looked at; each costs mounts. */
const MAX_VERSIONS = 64;

/** Patterns by their first names: what is not there is looked for once, and not for each pattern below it. */
interface Patterns {
  readonly below: ReadonlyMap<string, Patterns>;
  /** A pattern ends here. */
  readonly isWanted: boolean;
}

function patternsOf(patterns: readonly (readonly string[])[]): Patterns {
  const longer = patterns.filter((parts) => parts.length > 0);
  const below = Map.groupBy(longer, ([first = ""]) => first);
  return {
    below: new Map([...below].map(([name, group]) => [name, patternsOf(group.map((parts) => parts.slice(1)))])),
    isWanted: longer.length < patterns.length,
  };
}

const TOOLCHAIN_PATTERNS = patternsOf(TOOLCHAINS.map((pattern) => pattern.split("/")));

/** The paths that patterns stand for in a folder. What lies behind closed doors, as after an installation with sudo, is of no use to a build. */
function expand(folder: string, { below }: Patterns): string[] {
  return [...below].flatMap(([name, patterns]) => {
    const paths = name === "*" ? namesIn(folder).map((one) => join(folder, one)) : [join(folder, name)];
    return paths
      .filter((path) => realOf(path) !== undefined)
      .flatMap((path) => [
        ...(patterns.isWanted ? [path] : []),
        ...(patterns.below.size === 0 ? [] : expand(path, patterns)),
      ]);
  });
}

function namesIn(folder: string): string[] {
  return unlessRefused(() => listDir(folder))?.slice(-MAX_VERSIONS) ?? [];
}

/** A folder of PATH, and what its programs find beside it; never more of an installation, which may hold logins. */
function besidePrograms(folder: string, homes: readonly string[]): string[] {
  const around = dirname(folder);
  const isInstallation = basename(folder) === "bin" && homes.some((home) => around !== home && isWithin(around, home));
  return isInstallation ? [folder, join(around, "lib"), join(around, "libexec")] : [folder];
}

/** One of which the list knows the parts that hold no logins (`~/.dotnet`, which is in PATH as a whole) is not shown whole. */
function isNotListed(homes: readonly string[]): (folder: string) => boolean {
  // Most folders of PATH are nowhere near a home.
  const near = (folder: string) => homes.filter((home) => isWithin(folder, home) || isWithin(home, folder));
  const hasListed = (folder: string, home: string) => {
    if (!isWithin(folder, home)) return true;
    const below = relative(home, folder);
    return below === "" || TOOLCHAINS.some((pattern) => pattern.startsWith(`${below}${sep}`));
  };
  return (folder) => !near(folder).some((home) => hasListed(folder, home));
}

/** Folders of PATH and toolchains below the home: what a build calls by name. */
export function toolPlaces(options: PlaceOptions): Mount[] {
  const { homes } = options;
  const inPath = options.path.split(delimiter).filter((folder) => isAbsolute(folder));
  const mayBeWhole = isNotListed(homes.flatMap(both));
  const found = new Set(inPath.flatMap((folder) => besidePrograms(resolve(folder), homes)));
  // PATH may name it by a link.
  const programs = [...found].map(both).filter((names) => names.every(mayBeWhole));
  const tools = new Set(homes.flatMap((home) => expand(home, TOOLCHAIN_PATTERNS)));
  const folders = new Set([...programs, ...[...tools].map(both)].flat());
  return [...folders]
    .filter((folder) => !isOwn(folder, options) && !options.never.some((one) => isWithin(one, folder)))
    .map((path) => ({ kind: "read", path }));
}

/**
 * Files with a login among what is shown, and around the programs of PATH. Settings of npm are none as long as they have no
 * login: builds need them.
 */
export function toolSecrets(places: readonly Mount[], path: string): string[] {
  const shown = places.filter((place) => place.kind === "read" && basename(place.path) === "lib");
  const prefixes = path.split(delimiter).filter((folder) => isAbsolute(folder) && basename(folder) === "bin");
  const files = [
    ...shown.map((place) => join(place.path, "node_modules/npm/npmrc")),
    ...prefixes.flatMap((folder) => npmSettings(dirname(folder))),
  ];
  const settings = files.flatMap((file) => realOf(file) ?? []).filter(holds(LOGIN_OF_NPM));
  return [...new Set([...settings, ...places.flatMap(secretsIn).flatMap((file) => realOf(file) ?? [])])];
}

/** What a person told a version manager to keep beside what it installed. */
function secretsIn({ kind, path }: Mount): string[] {
  if (kind !== "read") return [];
  // Plugins are clones, and the address of one may have a token in it.
  if (basename(path) === "plugins") return namesIn(path).map((name) => join(path, name, ".git/config"));
  // Variables of an environment; conda's own documentation puts a key there.
  if (path.endsWith("/etc/conda")) return [join(path, "activate.d/env_vars.sh")];
  if (basename(path) === "conda-meta") {
    return [join(path, "state"), ...[join(path, "history")].filter(holds(LOGIN_OF_CONDA))];
  }
  // In PATH as a whole, with the versions of Node that it installed, and settings for what it installs for all projects.
  if (basename(path) !== "pnpm") return [];
  const below = (folder: string) => namesIn(join(path, folder)).map((name) => join(path, folder, name));
  const settings = [...below("nodejs").flatMap(npmSettings), ...below("global").map((one) => join(one, ".npmrc"))];
  return settings.filter(holds(LOGIN_OF_NPM));
}

/** What npm reads beside itself, for everything that is installed under one prefix. */
function npmSettings(prefix: string): string[] {
  return [join(prefix, "etc/npmrc"), join(prefix, "lib/node_modules/npm/npmrc")];
}

const LOGIN_OF_NPM = /_auth|_password|:\/\/[^/\s]*@/i;
/** conda notes the commands that it was called with, and the address of a channel may have a token in it. */
const LOGIN_OF_CONDA = /\/t\/|:\/\/[^/\s]*@/;

/** One that cannot be read is taken for a login. */
function holds(login: RegExp): (file: string) => boolean {
  return (file) => {
    try {
      return login.test(readCheckedOut(file) ?? "");
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return statSync(file, { throwIfNoEntry: false })?.isDirectory() === false;
    }
  };
}

/** Where names are looked up, when the file for that lies in a folder that is hidden: without it there is no network. */
export function nameServicePlaces(): Mount[] {
  return ["/etc/resolv.conf", "/etc/hosts", "/etc/localtime"].flatMap((file): Mount[] => {
    const real = realOf(file);
    return real === undefined || real === file ? [] : [{ kind: "read", path: real }];
  });
}

/** Files with secrets of the machine, and sockets that are as good as root, where we ourselves can read them. */
export function machineSecrets(): string[] {
  return MACHINE_SECRETS.filter((file) => isAccessible(file, constants.R_OK));
}

const MACHINE_SECRETS = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  ...["rsa", "ecdsa", "ed25519", "dsa"].map((kind) => `/etc/ssh/ssh_host_${kind}_key`),
  ...["/var/snap/lxd/common/lxd", "/var/lib/lxd", "/var/lib/incus"].map((folder) => `${folder}/unix.socket`),
];
