import { crashPoint } from "../kernel/crash-point.ts";
import { PrloomError } from "../kernel/errors.ts";
import { readTextIfExists, writeFileAtomic } from "../kernel/files.ts";
import { sha256 } from "../kernel/ids.ts";
import { isFields, jsonIn } from "../kernel/json-fields.ts";
import type { Config } from "./config.ts";

const SCHEMA_VERSION = 1;

const KINDS = ["config", "prompt", "module", "program", "signers"] as const;

export interface PinnedFile {
  /** Below the top of the repository. */
  readonly path: string;
  readonly kind: (typeof KINDS)[number];
  readonly sha256: string;
  /** Of a config, prompts and signers: these are read from here. A module lives on in the dispatcher that loaded it. */
  readonly text?: string | undefined;
  /** Of a program: while its stat is this one it need not be read. */
  readonly stat?: string | undefined;
}

/** What the text of the config means, and which build said so: the same one need not check it again. */
export interface CheckedPin {
  readonly build: string;
  readonly config: Config;
  /** Of the config and of the hash of its text. */
  readonly sha256: string;
}

/** What a person started the dispatcher with: all that it takes from the working tree, as it was then. */
export interface Pin {
  readonly schemaVersion: typeof SCHEMA_VERSION;
  readonly pinnedAt: string;
  readonly by: "start" | "reload";
  /** What was checked out when the dispatcher was started. */
  readonly branch?: string | undefined;
  readonly commit?: string | undefined;
  /** Of a reload: the time of the start before it, by the clock of the file system. Modules are as old as that. */
  readonly modulesAt?: number | undefined;
  readonly checked?: CheckedPin | undefined;
  /** Of all paths and their hashes. */
  readonly digest: string;
  readonly files: readonly PinnedFile[];
}

/** When, by what and from where it was pinned. */
export type PinOrigin = Omit<Pin, "schemaVersion" | "digest" | "files">;

/** Put in by the build; from a checkout there is no such name. */
declare const PRLOOM_BUILD: string | undefined;

/** For the pin of a config that this program has just checked. A checkout has no name that changes with its source. */
export function checkedPin(files: readonly PinnedFile[], config: Config): CheckedPin | undefined {
  if (typeof PRLOOM_BUILD !== "string") return undefined;
  return { build: PRLOOM_BUILD, config, sha256: checkedHash(files, config) };
}

function checkedHash(files: readonly PinnedFile[], config: Config): string {
  return sha256(JSON.stringify([files.find(({ kind }) => kind === "config")?.sha256, config]));
}

/** The config of a pin, if this very build has checked it. */
export function checkedConfig({ checked }: Pin): Config | undefined {
  return typeof PRLOOM_BUILD === "string" && checked?.build === PRLOOM_BUILD ? checked.config : undefined;
}

export function pinOf(files: readonly PinnedFile[], origin: PinOrigin): Pin {
  const sorted = [...files].sort((one, other) => (one.path < other.path ? -1 : 1));
  return { ...origin, schemaVersion: SCHEMA_VERSION, digest: digestOf(sorted), files: sorted };
}

export function digestOf(files: readonly PinnedFile[]): string {
  return sha256(JSON.stringify(files.map((file) => [file.path, file.kind, file.sha256])));
}

/** One file, replaced as a whole: there is no moment with half a pin. */
export function writePin(path: string, pin: Pin): void {
  crashPoint("pin:before");
  writeFileAtomic(path, `${JSON.stringify(pin, null, 2)}\n`);
  crashPoint("pin:after");
}

/** The pin that was kept; undefined when no dispatcher was ever started here. */
export function readPin(path: string): Pin | undefined {
  const text = readTextIfExists(path);
  if (text === undefined) return undefined;
  const pin = jsonIn(text);
  if (!isPin(pin)) throw unreadable(path, "it is not a pin of this version");
  const broken = pin.files.find((file) => file.text !== undefined && sha256(file.text) !== file.sha256);
  if (broken) throw unreadable(path, `${broken.path} does not have its hash`);
  const { checked } = pin;
  if (checked && checkedHash(pin.files, checked.config) !== checked.sha256)
    throw unreadable(path, "what was checked does not have its hash");
  if (digestOf(pin.files) !== pin.digest) throw unreadable(path, "it does not have its digest");
  return pin;
}

// By hand, because `status` reads it each time, and need not load the schema library for anything else.
function isPin(value: unknown): value is Pin {
  if (!isFields(value) || value.schemaVersion !== SCHEMA_VERSION || !Array.isArray(value.files)) return false;
  const { pinnedAt, by, branch, commit, modulesAt, checked, digest, files } = value;
  const isOrigin = (by === "start" || by === "reload") && areTexts([pinnedAt, digest], [branch, commit]);
  const isTimed = modulesAt === undefined || typeof modulesAt === "number";
  const isChecked =
    checked === undefined ||
    (isFields(checked) && isFields(checked.config) && areTexts([checked.build, checked.sha256], []));
  return isOrigin && isTimed && isChecked && files.every(isPinnedFile);
}

function isPinnedFile(file: unknown): file is PinnedFile {
  if (!isFields(file)) return false;
  return KINDS.some((kind) => kind === file.kind) && areTexts([file.path, file.sha256], [file.text, file.stat]);
}

function areTexts(needed: readonly unknown[], optional: readonly unknown[]): boolean {
  return [...needed, ...optional.filter((one) => one !== undefined)].every((one) => typeof one === "string");
}

function unreadable(path: string, why: string): PrloomError {
  const hint = "`prloom start` makes a new one from what is checked out; `prloom stop` first, if a dispatcher runs.";
  return new PrloomError("state-unreadable", `${path} cannot be used: ${why}`, hint);
}
