import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { renewDatabase } from "../../../src/agents/opencode/kept-database.ts";

const dir = mkdtempSync(join(tmpdir(), "prloom-kept-"));
after(() => rmSync(dir, { recursive: true, force: true }));

/** Where the conversation was had. */
const TREE = "/repo/tree";

const TABLES = `CREATE TABLE \`account\` (id text PRIMARY KEY, url text NOT NULL, time_created integer); CREATE TABLE control_account (url text);
  CREATE TABLE project (id text PRIMARY KEY, commands text); CREATE TABLE permission (id text); CREATE TABLE migration (name text);
  CREATE TABLE message (id text, note text DEFAULT '' NOT NULL); CREATE TABLE part (id text);
  CREATE TABLE session (id text PRIMARY KEY, project_id text REFERENCES project(id), directory text, parent_id text, permission text);
  CREATE INDEX session_project_idx ON session (project_id);
  INSERT INTO project VALUES ('p', '{"start":"evil"}'); INSERT INTO migration VALUES ('first');
  INSERT INTO session VALUES ('ses_1', 'p', '${TREE}', NULL, '[{"permission":"*","pattern":"*","action":"allow"}]');`;
const BEFORE = `CREATE TRIGGER t AFTER INSERT ON session BEGIN INSERT INTO account VALUES ('a', 'x', 1); END;`;
const BY_HAND = "PRAGMA writable_schema = ON;";

const RULES = `'[{"permission":"*","pattern":"*","action":"allow"}]'`;
/** The tables as a run has defined them anew. */
const defined = (what: string): string => TABLES.replace("parent_id text, permission text)", what);

const folderOf = (home: string): string => join(home, ".local/share/opencode");
const fileOf = (home: string): string => join(folderOf(home), "opencode.db");

function homeWith(sql: string): string {
  const home = mkdtempSync(join(dir, "home-"));
  mkdirSync(folderOf(home), { recursive: true });
  const db = new DatabaseSync(fileOf(home), { defensive: false } as object);
  db.exec(`PRAGMA journal_mode = WAL; ${sql}`);
  db.close();
  return home;
}

/** What OpenCode finds in the next run, which also begins a session. */
function nextRun(home: string) {
  const db = new DatabaseSync(fileOf(home));
  try {
    db.exec("INSERT INTO session (id, project_id) VALUES ('ses_2', 'p')");
    const all = (sql: string) =>
      db
        .prepare(sql)
        .all()
        .map((row) => Object.values(row));
    return {
      accounts: [...all("SELECT id FROM account"), ...all("SELECT url FROM control_account")].length,
      rules:
        all("SELECT permission FROM session WHERE permission IS NOT NULL").length +
        all("SELECT id FROM permission").length,
      commands: all("SELECT commands FROM project"),
      sessions: all("SELECT id FROM session ORDER BY id").flat(),
      sound: all("PRAGMA integrity_check").flat(),
    };
  } finally {
    db.close();
  }
}

const CLEAN = { accounts: 0, rules: 0, commands: [[null]], sessions: ["ses_1", "ses_2"], sound: ["ok"] };

const PLANTED: Readonly<Record<string, string>> = {
  "a session in a folder of its choice":
    "INSERT INTO session VALUES ('ses_0', 'p', '/home/a/.cache/evil', NULL, NULL);",
  "a session in its folder, and in bytes": `INSERT INTO session VALUES ('ses_0', 'p', CAST('${TREE}' AS BLOB), NULL, NULL);`,
  "a session that another one started": `INSERT INTO session VALUES ('ses_0', 'p', '${TREE}', 'ses_1', NULL);`,
  nothing: "",
  "an account": "INSERT INTO account VALUES ('a', 'http://elsewhere', 1);",
  "an account of an older OpenCode": "INSERT INTO control_account VALUES ('x');",
  "rules for all sessions": "INSERT INTO permission VALUES ('all');",
  "a trigger": BEFORE,
  "a trigger in other letters": `${BEFORE} ${BY_HAND} UPDATE sqlite_schema SET type = 'TRIGGER' WHERE name = 't';`,
  "a trigger as bytes": `${BEFORE} ${BY_HAND} UPDATE sqlite_schema SET type = CAST('trigger' AS BLOB) WHERE name = 't';`,
  "rules as a default": defined(`parent_id text, permission text NOT NULL ON CONFLICT REPLACE DEFAULT ${RULES})`),
  "rules under a name in other letters": defined("parent_id text, PERMISSION text)"),
  "commands as a default": TABLES.replace(
    "commands text)",
    "commands text NOT NULL ON CONFLICT REPLACE DEFAULT 'evil')",
  ),
  "a check that lets no other session in": defined("parent_id text, permission text, CHECK (id = 'ses_1'))"),
  "a default for sessions to come": defined(`parent_id text, permission text DEFAULT ${RULES})`),
  "an index that fills gigabytes": `INSERT INTO part VALUES (1), (2); CREATE INDEX part_x ON part (id); ${BY_HAND}
    UPDATE sqlite_schema SET sql = 'CREATE INDEX part_x ON part (zeroblob(900000000 + id))' WHERE name = 'part_x';`,
  "an account behind an index of something else": `INSERT INTO account VALUES ('a', 'x', 1); CREATE TABLE hollow (x integer); CREATE INDEX hollow_i ON hollow (x);
    CREATE INDEX account_i ON account (time_created); ${BY_HAND}
    UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'hollow_i') WHERE name = 'account_i';`,
};

for (const [what, sql] of Object.entries(PLANTED)) {
  test(`a conversation goes on in a database without what a run planted: ${what}`, async () => {
    const home = homeWith(sql.startsWith(TABLES.slice(0, 20)) ? sql : `${TABLES} ${sql}`);
    await renewDatabase(home, dir, TREE);
    assert.deepEqual(nextRun(home), CLEAN);
    assert.equal(existsSync(join(dir, "opencode.db")), false);
  });
}

test("of a row only what a conversation needs is taken over, also where OpenCode has columns that are not known here", async () => {
  const columns =
    "slug text, cost real DEFAULT 0 NOT NULL, time_updated integer, workspace_id text, revert text, share_url text";
  const later = "later text, counted integer DEFAULT 3 NOT NULL";
  const home =
    homeWith(`${TABLES} ${[columns, later].join().replace(/(?:^|,) ?/g, "; ALTER TABLE session ADD COLUMN ")};
    ALTER TABLE project ADD COLUMN worktree text; ALTER TABLE project ADD COLUMN sandboxes text NOT NULL DEFAULT '[]';
    UPDATE project SET worktree = '/repo', sandboxes = '["/home/a/evil"]'; INSERT INTO message VALUES ('m', 'its note');
    UPDATE session SET slug = 'brave', cost = 0.5, time_updated = 7, workspace_id = 'w', revert = 'r', share_url = 's', later = 'l', counted = 9;`);
  await renewDatabase(home, dir, TREE);
  const db = new DatabaseSync(fileOf(home));
  const of = (table: string) =>
    db
      .prepare(`SELECT * FROM ${table}`)
      .all()
      .map((row) => ({ ...row }));
  const kept = { id: "ses_1", project_id: "p", directory: TREE, slug: "brave", cost: 0.5, time_updated: 7, counted: 3 };
  const left = { parent_id: null, permission: null, workspace_id: null, revert: null, share_url: null, later: null };
  assert.deepEqual(of("session"), [{ ...kept, ...left }]);
  assert.deepEqual(of("project"), [{ id: "p", commands: null, worktree: "/repo", sandboxes: "[]" }]);
  assert.deepEqual(of("message"), [{ id: "m", note: "" }]);
  db.close();
});

test("what is no database, a link to one, larger than any, has no tables of OpenCode's, or a message that is torn, or needs what is not kept, goes, and where there is none nothing is done", async () => {
  const broken = homeWith(TABLES);
  writeFileSync(fileOf(broken), "no database");
  const linked = homeWith(TABLES);
  rmSync(fileOf(linked));
  symlinkSync(fileOf(homeWith(TABLES)), fileOf(linked));
  const huge = homeWith(TABLES);
  truncateSync(fileOf(huge), 300 * 1024 * 1024);
  // A megabyte in the file, and 300 in the rows.
  const swelling = homeWith(`${TABLES} WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300)
    INSERT INTO message (id) SELECT x FROM n; ALTER TABLE message ADD COLUMN data text DEFAULT '"${"x".repeat(1e6)}"';`);
  const torn = homeWith(
    `${TABLES} ALTER TABLE message ADD COLUMN data text; INSERT INTO message (data) VALUES ('{}'), ('{"role":"us');`,
  );
  const computed = homeWith(defined(`parent_id text, permission text AS (${RULES}))`).replace("NULL, '[", "NULL); --"));
  const shown = homeWith(`${TABLES} DROP TABLE message; CREATE VIEW message AS SELECT 'a' AS id;`);
  const needed = homeWith(
    defined("parent_id text, permission text, later text NOT NULL)").replace("NULL, '[", "NULL, 'x', '["),
  );
  for (const home of [broken, linked, huge, swelling, torn, computed, shown, needed, mkdtempSync(join(dir, "home-"))]) {
    await renewDatabase(home, dir, TREE);
    assert.equal(existsSync(fileOf(home)), false);
  }
});

test("a run that begins a conversation finds no database that an earlier one can have spoiled", async () => {
  const home = homeWith(`${TABLES} DELETE FROM migration;`);
  await renewDatabase(home, dir, undefined);
  assert.equal(existsSync(fileOf(home)), false);
});
