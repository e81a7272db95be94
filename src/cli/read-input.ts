import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { errnoOf, messageOf, PrloomError } from "../kernel/errors.ts";

export interface TextSource {
  readonly file?: string;
  readonly stdin?: boolean;
}

/** The text that --file or --stdin names; undefined when neither was given. `--file -` is standard input. */
export async function readInput(source: TextSource): Promise<string | undefined> {
  if (source.file !== undefined && source.stdin) {
    throw new PrloomError("usage", "--file and --stdin exclude each other.", "Give one of them.");
  }
  if (source.stdin || source.file === "-") return text(process.stdin);
  if (source.file === undefined) return undefined;
  try {
    // Not "utf8", which takes letters of another encoding for unknown ones, and they are gone.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(source.file));
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    const why = REASONS[code] ?? `cannot be read: ${messageOf(error)}`;
    throw new PrloomError("usage", `${source.file} ${why}`, "Check the name of the file.", error);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist.",
  EISDIR: "is a folder, not a file.",
  ERR_ENCODING_INVALID_ENCODED_DATA: "is not text in UTF-8: save it as that.",
  EACCES: "cannot be read: you have no permission to.",
};
