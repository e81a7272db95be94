import * as z from "zod";
import { PrloomError } from "../kernel/errors.ts";
import { readTextIfExists, writeFileAtomic } from "../kernel/files.ts";
import { jsonIn } from "../kernel/json-fields.ts";

const namesSchema = z.strictObject({
  schemaVersion: z.literal(1),
  apiUrl: z.string(),
  id: z.int(),
  /** Oldest first; the last one is what it is called now. */
  names: z.array(z.string()).min(1),
});

/** What a repository is and was called. */
export interface KnownNames {
  readonly id: number;
  readonly names: readonly string[];
}

/** Remembers which repository a name stood for: after it was renamed, another one may take the name. */
export interface NamesStore {
  read(): KnownNames | undefined;
  write(known: KnownNames): void;
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Pure: whether this name is or was that of the repository. */
export const isNameOf = ({ names }: KnownNames, name: string): boolean => names.some((one) => isSame(one, name));

/** Pure: the names of a repository that was found now; those of another one are forgotten. */
export function namesAfter(before: KnownNames | undefined, id: number, found: readonly string[]): KnownNames {
  const names = before?.id === id ? [...before.names] : [];
  for (const name of found) {
    if (isSame(names.at(-1) ?? "", name)) continue;
    const kept = names.filter((one) => !isSame(one, name));
    names.splice(0, names.length, ...kept, name);
  }
  return { id, names };
}

/** Kept in a file, for one GitHub. */
export function namesStore(path: string, apiUrl: string): NamesStore {
  return {
    read() {
      const text = readTextIfExists(path);
      if (text === undefined) return undefined;
      const read = namesSchema.safeParse(jsonIn(text));
      if (read.success) return read.data.apiUrl === apiUrl ? read.data : undefined;
      const hint = "Repair it; or delete it, if `github.repo` names the repository that is meant.";
      throw new PrloomError("state-unreadable", `${path} cannot be read.`, hint);
    },
    write: ({ id, names }) =>
      writeFileAtomic(path, `${JSON.stringify({ schemaVersion: 1, apiUrl, id, names }, null, 2)}\n`),
  };
}

/** Remembers nothing, where one look is all there is. */
export const NO_NAMES: NamesStore = { read: () => undefined, write: () => undefined };
