import { execFile } from "node:child_process";
import { lstatSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { isMissing } from "../../kernel/errors.ts";
import { placeFile } from "../../kernel/held/files.ts";
import { removeFrom } from "../../kernel/removal/remove-held.ts";

/*
 * OpenCode's database has more than conversations. When it names an account, OpenCode takes settings from that account's server, after
 * ours and stronger: plugins, servers, permissions; rules of a session count after ours, too. A run can write all that, also so that
 * it is not found by looking (triggers, pages that two tables share). So the next run gets a new database, with the rows of
 * conversations and nothing else of the old one.
 */

const FOLDER = ".local/share/opencode";
const DATABASE = `${FOLDER}/opencode.db`;
/** What is kept of a home for the next one's to be made from: with the log, which may hold what is newest. */
export const KEPT_DATABASE: readonly string[] = [DATABASE, `${DATABASE}-wal`];
/** With an index of the log, which is made anew, also when we look. */
const ALL_FILES: readonly string[] = [...KEPT_DATABASE, `${DATABASE}-shm`];

const CONVERSATIONS = ["migration", "data_migration", "project", "session", "message", "part", "todo"];

/** Reading takes twice this in memory, and a conversation is far smaller. */
const MAX_BYTES = 256 * 1024 * 1024;
const DEADLINE_MS = 15_000;

/** In a process of its own, that can be ended: an agent decides what has to be read. Tables are made by what they say they are. */
const COPY = `
const { DatabaseSync } = require("node:sqlite");
const [from, to, ...kept] = process.argv.slice(1);
const options = { enableForeignKeyConstraints: false };
const old = new DatabaseSync(from, { ...options, readOnly: true });
const made = new DatabaseSync(to, options);
made.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
const named = (name) => '"' + name.replaceAll('"', '""') + '"';
const parts = old.prepare("SELECT CAST(sql AS TEXT) AS sql FROM sqlite_schema WHERE sql IS NOT NULL").all();
for (const kind of [/^create table (?!\\W?sqlite_)/i, /^create (?:unique )?index /i])
  for (const { sql } of parts) if (kind.test(sql)) made.prepare(sql).run();
const emptied = { session: ["permission"], project: ["commands"] };
for (const table of kept) {
  const columns = made.prepare("PRAGMA table_info(" + named(table) + ")").all().map(({ name }) => name);
  if (columns.length === 0) continue;
  const list = columns.map(named).join(", ");
  const insert = made.prepare("INSERT INTO " + named(table) + " (" + list + ") VALUES (" + columns.map(() => "?").join(", ") + ")");
  const rows = old.prepare("SELECT " + list + " FROM " + named(table));
  rows.setReadBigInts(true);
  const without = emptied[table] ?? [];
  for (const row of rows.iterate()) insert.run(...columns.map((name) => (without.includes(name) ? null : row[name])));
}
made.exec("COMMIT");
`;

/** Makes the database of a private home anew, in which nothing runs; where that cannot be done, there is none. */
export async function renewDatabase(home: string, scratch: string): Promise<void> {
  const there = KEPT_DATABASE.map((path) => lstatSync(join(home, path), { throwIfNoEntry: false })).filter(
    (stat) => stat !== undefined,
  );
  if (there.length === 0) return;
  const isFit = there.every((stat) => stat.isFile()) && there.reduce((sum, { size }) => sum + size, 0) <= MAX_BYTES;
  const made = join(scratch, "opencode.db");
  const data = isFit ? await copied(join(home, DATABASE), made) : undefined;
  for (const path of ALL_FILES) removeFrom(home, path);
  if (data) placeFile(home, DATABASE, data);
}

async function copied(from: string, to: string): Promise<Buffer | undefined> {
  rmSync(to, { force: true });
  const args = ["--disable-warning=ExperimentalWarning", "-e", COPY, "--", from, to, ...CONVERSATIONS];
  const options = { cwd: "/", env: {}, timeout: DEADLINE_MS, killSignal: "SIGKILL" } as const;
  const isMade = await promisify(execFile)(process.execPath, args, options).then(
    () => true,
    () => false,
  );
  try {
    return isMade ? readFileSync(to) : undefined;
  } catch (error) {
    if (!isMissing(error)) throw error;
    return undefined;
  } finally {
    rmSync(to, { force: true });
  }
}
