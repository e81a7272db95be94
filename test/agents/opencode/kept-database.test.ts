import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { DATABASE_FILES, databaseToDrop } from "../../../src/agents/opencode/kept-database.ts";

const dir = mkdtempSync(join(tmpdir(), "prloom-kept-"));
after(() => rmSync(dir, { recursive: true, force: true }));

const TABLES = `CREATE TABLE account (id text PRIMARY KEY, url text NOT NULL); CREATE TABLE account_state (id integer PRIMARY KEY,
  active_account_id text); CREATE TABLE session (id text PRIMARY KEY); INSERT INTO session VALUES ('ses_1');`;

function homeWith(sql: string, name = "opencode.db"): string {
  const home = mkdtempSync(join(dir, "home-"));
  const folder = join(home, ".local/share/opencode");
  mkdirSync(folder, { recursive: true });
  const db = new DatabaseSync(join(folder, name));
  db.exec(`PRAGMA journal_mode=WAL; ${sql}`);
  db.close();
  return home;
}

const [DATABASE = ""] = DATABASE_FILES;

test("a database with conversations is kept, and where there is none nothing is done", async () => {
  assert.deepEqual(await databaseToDrop(homeWith(`${TABLES} INSERT INTO account_state VALUES (1, NULL);`)), []);
  assert.deepEqual(await databaseToDrop(mkdtempSync(join(dir, "home-"))), []);
});

const TOLD: Readonly<Record<string, string>> = {
  "an account": `${TABLES} INSERT INTO account VALUES ('a', 'http://elsewhere');`,
  "an account in other letters": "CREATE TABLE ACCOUNT (id text); INSERT INTO ACCOUNT VALUES ('a');",
  "an account of an older OpenCode": `CREATE TABLE control_account (url text); INSERT INTO control_account VALUES ('x');`,
  "a view": "CREATE TABLE other (id text); CREATE VIEW account AS SELECT * FROM other;",
  "a trigger": `${TABLES} CREATE TRIGGER t AFTER INSERT ON session BEGIN INSERT INTO account VALUES ('a', 'x'); END;`,
};

for (const [name, sql] of Object.entries(TOLD)) {
  test(`a database goes that has ${name}`, async () => {
    assert.deepEqual(await databaseToDrop(homeWith(sql)), DATABASE_FILES);
  });
}

test("what is no database, or a link to one, goes", async () => {
  const broken = homeWith(TABLES);
  writeFileSync(join(broken, DATABASE), "no database");
  assert.deepEqual(await databaseToDrop(broken), DATABASE_FILES);
  const linked = homeWith(TABLES, "other.db");
  symlinkSync("other.db", join(linked, DATABASE));
  assert.deepEqual(await databaseToDrop(linked), DATABASE_FILES);
});
