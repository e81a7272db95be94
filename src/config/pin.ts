import * as z from "zod";
import { crashPoint } from "../kernel/crash-point.ts";
import { messageOf, PrloomError } from "../kernel/errors.ts";
import { readTextIfExists, writeFileAtomic } from "../kernel/files.ts";
import { sha256 } from "../kernel/ids.ts";
import { PARSED_ONCE } from "../kernel/json.ts";

const SCHEMA_VERSION = 1;

const fileSchema = z.object({
  /** Below the top of the repository. */
  path: z.string(),
  kind: z.enum(["config", "prompt", "module", "program", "signers"]),
  sha256: z.string(),
  /** Of a config, prompts and signers: these are read from here. A module lives on in the dispatcher that loaded it. */
  text: z.string().optional(),
  /** Of a program: while its stat is this one it need not be read. */
  stat: z.string().optional(),
});
export type PinnedFile = z.infer<typeof fileSchema>;

const pinSchema = z.object({
  schemaVersion: z.literal(SCHEMA_VERSION),
  pinnedAt: z.string(),
  by: z.enum(["start", "reload"]),
  /** What was checked out when the dispatcher was started. */
  branch: z.string().optional(),
  commit: z.string().optional(),
  /** Of a reload: the time of the start before it, by the clock of the file system. Modules are as old as that. */
  modulesAt: z.number().optional(),
  /** Of all paths and their hashes. */
  digest: z.string(),
  files: z.array(fileSchema),
});

/** What a person started the dispatcher with: all that it takes from the working tree, as it was then. */
export type Pin = z.infer<typeof pinSchema>;

export interface PinOrigin {
  readonly pinnedAt: string;
  readonly by: Pin["by"];
  readonly branch?: string | undefined;
  readonly commit?: string | undefined;
  readonly modulesAt?: number | undefined;
}

export function pinOf(files: readonly PinnedFile[], { pinnedAt, by, branch, commit, modulesAt }: PinOrigin): Pin {
  const sorted = [...files].sort((one, other) => (one.path < other.path ? -1 : 1));
  return {
    schemaVersion: SCHEMA_VERSION,
    pinnedAt,
    by,
    ...(branch === undefined ? {} : { branch }),
    ...(commit === undefined ? {} : { commit }),
    ...(modulesAt === undefined ? {} : { modulesAt }),
    digest: digestOf(sorted),
    files: sorted,
  };
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
  let pin: Pin;
  try {
    pin = pinSchema.parse(JSON.parse(text), PARSED_ONCE);
  } catch (error) {
    throw unreadable(path, messageOf(error), error);
  }
  const broken = pin.files.find((file) => file.text !== undefined && sha256(file.text) !== file.sha256);
  if (broken) throw unreadable(path, `${broken.path} does not have its hash`);
  if (digestOf(pin.files) !== pin.digest) throw unreadable(path, "it does not have its digest");
  return pin;
}

function unreadable(path: string, why: string, cause?: unknown): PrloomError {
  const hint = "`prloom start` makes a new one from what is checked out; `prloom stop` first, if a dispatcher runs.";
  return new PrloomError("state-unreadable", `${path} cannot be used: ${why}`, hint, cause);
}
