import { join } from "node:path";
import { CONFIG_FILE } from "../../config/load.ts";
import { configJsonSchema } from "../../config/schema/json-schema.ts";
import type { Located } from "../../dispatcher/paths.ts";
import { whyBrought } from "../../git/tracked.ts";
import { errnoOf, PrloomError } from "../../kernel/errors.ts";
import { ensureDir, readCheckedOut, writeFileIfChanged } from "../../kernel/files.ts";
import { version } from "./version.ts";

const FILE = "config.schema.json";
/** As `prloom/config.json` names it: it is never committed, since each prloom has its own. */
export const SCHEMA_REFERENCE = `./.local/${FILE}`;

/** Writes what editors check the config with. */
export async function writeConfigSchema({ repo, paths }: Located): Promise<void> {
  const path = join(paths.local, FILE);
  if ((await whyBrought(repo, path)) !== undefined) return;
  ensureDir(paths.local);
  writeFileIfChanged(path, `${head()}${JSON.stringify(configJsonSchema(), null, 2).slice(1)}\n`);
}

/**
 * The same for a config that refers to it, when another prloom wrote it last or it is gone. Only editors need it: where it
 * cannot be written, work goes on.
 */
export async function refreshConfigSchema(place: Located): Promise<void> {
  try {
    if (!readCheckedOut(join(place.paths.root, CONFIG_FILE))?.includes(SCHEMA_REFERENCE)) return;
    if (readCheckedOut(join(place.paths.local, FILE))?.startsWith(head())) return;
    await writeConfigSchema(place);
  } catch (error) {
    if (!(error instanceof PrloomError) && errnoOf(error) === undefined) throw error;
  }
}

function head(): string {
  return `{\n  "$comment": ${JSON.stringify(`prloom ${version()}`)},`;
}
