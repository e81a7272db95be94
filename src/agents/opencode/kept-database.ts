import { execFile } from "node:child_process";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/*
 * OpenCode's database has more than conversations: when it names an account, OpenCode takes settings from that account's server, after
 * ours and stronger: plugins, servers, permissions. No login of an account is brought into a private home, so one that is named in
 * there was put there by a run.
 */

const FOLDER = ".local/share/opencode";

/** What of the database stays from one run to the next. */
export const KEPT_DATABASE: readonly string[] = ["opencode.db", "opencode.db-wal"].map((name) => `${FOLDER}/${name}`);

/** With an index of the second, which is made anew, also when we look. */
export const DATABASE_FILES: readonly string[] = [...KEPT_DATABASE, `${FOLDER}/opencode.db-shm`];

const DEADLINE_MS = 5000;

/** In a process of its own, that can be ended: an agent decides what has to be read. Triggers and views could name an account later. */
const LOOK = `
const { DatabaseSync } = require("node:sqlite");
const db = new DatabaseSync(process.argv[1], { readOnly: true });
const tables = db.prepare("SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view') OR sql LIKE 'create virtual%' OR lower(name) IN ('account', 'control_account')").all();
const isFree = ({ type, name }) => type === "table" && db.prepare('SELECT 1 FROM "' + name + '" LIMIT 1').get() === undefined;
process.exitCode = tables.every((table) => !/^create virtual/i.test(table.sql) && isFree(table)) ? 0 : 1;
`;

/** The files of the database in a home if they have to go: they name an account, or cannot be read. */
export async function databaseToDrop(home: string): Promise<readonly string[]> {
  const there = KEPT_DATABASE.filter((path) => lstatSync(join(home, path), { throwIfNoEntry: false }) !== undefined);
  if (there.length === 0) return [];
  const arePlain = there.every((path) => lstatSync(join(home, path)).isFile());
  return arePlain && (await namesNoAccount(join(home, FOLDER, "opencode.db"))) ? [] : DATABASE_FILES;
}

async function namesNoAccount(path: string): Promise<boolean> {
  const args = ["--disable-warning=ExperimentalWarning", "-e", LOOK, "--", path];
  const options = { cwd: "/", env: {}, timeout: DEADLINE_MS, killSignal: "SIGKILL" } as const;
  return promisify(execFile)(process.execPath, args, options).then(
    () => true,
    () => false,
  );
}
