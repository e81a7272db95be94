import { execFile } from "node:child_process";
import { lstatSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { placeMoved } from "../../kernel/held/files.ts";
import { removeFrom } from "../../kernel/removal/remove-held.ts";

/*
 * OpenCode's database has more than conversations. When it names an account, OpenCode takes settings from that account's server, after
 * ours and stronger: plugins, servers, permissions; rules of a session count after ours, too, and in its folder OpenCode
 * works, with the plugins that lie there. A run can write all that, also so that it is not found by looking (triggers, pages that two
 * tables share). So the next run gets a new database, with what a conversation in its worktree needs to go on, by columns, and nothing else of the old one.
 * Sessions of sub-agents are no part of that, since no later run may go on with them: the run that was made one would have no task.
 */

const FOLDER = ".local/share/opencode";
const DATABASE = `${FOLDER}/opencode.db`;
/** What is kept of a home for the next one's to be made from: with the log, which may hold what is newest. */
export const KEPT_DATABASE: readonly string[] = [DATABASE, `${DATABASE}-wal`];
/** With an index of the log, which is made anew, also when we look. */
const ALL_FILES: readonly string[] = [...KEPT_DATABASE, `${DATABASE}-shm`];

const TIMES = ["time_created", "time_updated"];
const TOKENS = ["input", "output", "reasoning", "cache_read", "cache_write"].map((what) => `tokens_${what}`);

/** Tables of conversations, with those of their columns that are kept; null: all of them. */
const CONVERSATIONS: Readonly<Record<string, readonly string[] | null>> = {
  migration: null,
  project: ["id", "worktree", "vcs", ...TIMES, "time_initialized"],
  session: ["id", "project_id", "parent_id", "slug", "directory", "title", "version", "cost", ...TOKENS, ...TIMES],
  message: ["id", "session_id", ...TIMES, "data"],
  part: ["id", "message_id", "session_id", ...TIMES, "data"],
  data_migration: null,
  todo: null,
};

/** A conversation is far smaller. */
const MAX_BYTES = 256 * 1024 * 1024;
const PAGE_BYTES = 4096;
const DEADLINE_MS = 15_000;

/**
 * In a process of its own, that can be ended: an agent decides what has to be read. What its tables are called and what their
 * columns hold is taken over, and never what stands in their definitions: a default can be a rule, and an index fill gigabytes.
 */
const COPY = `
const { DatabaseSync } = require("node:sqlite");
const [from, to, folder, kept] = process.argv.slice(1);
const options = { enableForeignKeyConstraints: false };
const old = new DatabaseSync(from, { ...options, readOnly: true });
const made = new DatabaseSync(to, options);
made.exec("PRAGMA page_size = ${PAGE_BYTES}; PRAGMA max_page_count = ${MAX_BYTES / PAGE_BYTES}");
made.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
const named = (name) => '"' + name.replaceAll('"', '""') + '"';
const listed = (names) => names.map(named).join(", ");
const columnsOf = (table) => old.prepare("PRAGMA table_xinfo(" + named(table) + ")").all();
const definition = ({ name, type, dflt_value, hidden }) => {
  if (hidden !== 0 || !/^(?:text|integer|real|numeric|blob|)$/i.test(type)) throw new Error("unknown column " + name);
  const otherwise = /^(?:\\d{1,9}|'')$/.test(dflt_value) ? " DEFAULT " + dflt_value : "";
  return named(name) + " " + type + otherwise;
};
const tables = old.prepare("PRAGMA main.table_list").all().filter(({ type, name }) => type === "table" && !/^sqlite_/i.test(name));
for (const { name } of tables) {
  const columns = columnsOf(name);
  const key = columns.filter(({ pk }) => pk > 0).sort((one, other) => one.pk - other.pk).map((column) => column.name);
  const parts = [...columns.map(definition), ...(key.length === 0 ? [] : ["PRIMARY KEY (" + listed(key) + ")"])];
  made.exec("CREATE TABLE " + named(name) + " (" + parts.join(", ") + ")");
  for (const index of old.prepare("PRAGMA index_list(" + named(name) + ")").all()) {
    const over = old.prepare("PRAGMA index_info(" + named(index.name) + ")").all().map((column) => column.name);
    if (index.origin === "pk" || index.partial !== 0 || over.includes(null)) continue;
    const kind = index.unique === 0 ? "INDEX " : "UNIQUE INDEX ";
    made.exec("CREATE " + kind + named(index.name.replace(/^sqlite_/i, "")) + " ON " + named(name) + " (" + listed(over) + ")");
  }
}
const empty = { sandboxes: "[]" };
const optional = ["data_migration", "todo"];
for (const [table, wanted] of Object.entries(JSON.parse(kept))) {
  if (optional.includes(table) && !tables.some(({ name }) => name === table)) continue;
  const isKept = ({ name }) => wanted === null || wanted.includes(name.toLowerCase());
  const columns = columnsOf(table);
  const rows = old.prepare("SELECT " + listed(columns.filter(isKept).map(({ name }) => name)) + " FROM " + named(table));
  rows.setReadBigInts(true);
  const filled = columns.filter((column) => isKept(column) || Object.hasOwn(empty, column.name));
  const lacking = columns.find((column) => column.notnull !== 0 && column.dflt_value === null && !filled.includes(column));
  if (lacking !== undefined) throw new Error("unknown column " + lacking.name);
  const list = listed(filled.map(({ name }) => name));
  const insert = made.prepare("INSERT INTO " + named(table) + " (" + list + ") VALUES (" + filled.map(() => "?").join(", ") + ")");
  const valueIn = (row, wanted) => row[columns.find(({ name }) => name.toLowerCase() === wanted)?.name] ?? null;
  for (const row of rows.iterate()) {
    if (table === "session" && (valueIn(row, "directory") !== folder || valueIn(row, "parent_id") !== null)) continue;
    // With a torn one OpenCode reads none.
    JSON.parse(valueIn(row, "data"));
    insert.run(...filled.map((column) => (isKept(column) ? row[column.name] : empty[column.name])));
  }
}
made.exec("COMMIT");
`;

/**
 * Makes the database of a private home anew, in which nothing runs; where that cannot be done, there is none. Nor for a run that
 * begins a conversation: OpenCode does not start where it cannot use its database, and an earlier run can have seen to that.
 */
export async function renewDatabase(home: string, scratch: string, goesOnIn: string | undefined): Promise<void> {
  const there = KEPT_DATABASE.map((path) => lstatSync(join(home, path), { throwIfNoEntry: false })).filter(
    (stat) => stat !== undefined,
  );
  if (there.length === 0) return;
  const isFit = there.every((stat) => stat.isFile()) && there.reduce((sum, { size }) => sum + size, 0) <= MAX_BYTES;
  const made = join(scratch, "opencode.db");
  const isMade = goesOnIn !== undefined && isFit && (await copied(join(home, DATABASE), made, goesOnIn));
  for (const path of ALL_FILES) removeFrom(home, path);
  if (isMade) placeMoved(home, DATABASE, made);
  else rmSync(made, { force: true });
}

async function copied(from: string, to: string, folder: string): Promise<boolean> {
  rmSync(to, { force: true });
  const args = [
    "--disable-warning=ExperimentalWarning",
    "-e",
    COPY,
    "--",
    from,
    to,
    folder,
    JSON.stringify(CONVERSATIONS),
  ];
  const options = { cwd: "/", env: {}, timeout: DEADLINE_MS, killSignal: "SIGKILL" } as const;
  return promisify(execFile)(process.execPath, args, options).then(
    () => true,
    () => false,
  );
}
