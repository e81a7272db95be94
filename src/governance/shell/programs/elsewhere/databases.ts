import type { Behaviour } from "../../call.ts";
import { readArguments } from "../../options.ts";
import { noteSecrets, reads, writes } from "../../paths.ts";
import { noteEffect, type Spot } from "../../state/state.ts";
import { FROM, OUTPUT, TERMINAL } from "../../values/flow.ts";
import { known, startOf, type Text, textOf } from "../../values/text.ts";
import { noteInstructed } from "../instruction-files.ts";
import { noteOutputs } from "../outputs.ts";
import { says } from "./machines.ts";

const SQL_LOSES =
  /\b(?:drop\s+(?:materialized\s+)?(?:table|database|schema|keyspace|collection|index|view|user|role|column|function|trigger|sequence|type|extension|publication|tablespace)|truncate\s|delete\s+from\s+[\w."`]+\s*(?:;|$|"|')|alter\s+table\s+\S+\s+drop|update\s+\S+\s+set\s+(?:(?!\bwhere\b).)*$|grant\s|revoke\s|shutdown\b)/is;
const REDIS_LOSES = /\b(?:flushall|flushdb|shutdown|config\s+set|script|eval|debug|del\s+\*)\b/i;
const MONGO_LOSES = /\b(?:dropDatabase|drop|deleteMany|remove)\s*\(/;

const TAKES_STATEMENT = /^(?:-[a-zA-Z]*[ceqQ]|--(?:command|execute|eval|query))$/;

/** Whether an argument is what the database shall do, and not where it is. */
function isStatement(name: string, args: readonly Text[], at: number): boolean {
  if (name === "redis-cli" || TAKES_STATEMENT.test(textOf(args[at - 1] ?? known("")))) return true;
  if (/^-/.test(startOf(args[at] as Text))) return true;
  const isFirst = !args.slice(0, at).some((arg) => !startOf(arg).startsWith("-"));
  return /^(?:sqlite3|duckdb)$/.test(name) && !isFirst;
}

const MAX_STATEMENTS = 4000;

const SQL_CHANGES = /\b(?:insert|update|replace|create|alter|delete|drop|vacuum|import)\b/i;
const SQL_FILES =
  /\b(?:attach\s+(?:database\s+)?|copy\b[^;']*\bto\s+|vacuum\s+into\s+|export\s+database\s+)'([^']+)'/gi;

/** Commands of the programs themselves that write a file, and that read one. */
const WRITES_FILE =
  /^[ \t]*(?:\.(?:open|save|backup|clone|log|dump|sha3sum|excel)|\\(?:o|out|w|write|s)|tee)[ \t]+(?:.*[ \t])?(\S+)[ \t]*$/gim;
const READS_FILE =
  /^[ \t]*(?:\.(?:read|import)|\\(?:i|ir|include)|source|\\\.|\\copy\b.*\bfrom)[ \t]+(?:-\S+[ \t]+)*(\S+)/gim;
const RUNS_PIPED =
  /^[ \t]*(?:\.(?:read|import|once|output)|\\(?:o|out|w|write|g|gx))[ \t]+.*\||--pager=|^[ \t]*pager[ \t]/im;

const unquoted = (word: string): Text => known(word.replace(/^['"]|['"]$/g, ""));

/** Files that statements name. */
function filesByStatement(said: string, spot: Spot): void {
  for (const [, path = ""] of said.matchAll(SQL_FILES)) if (!path.startsWith(":")) writes(spot, known(path));
  for (const [, path = ""] of said.matchAll(WRITES_FILE)) writes(spot, unquoted(path));
  for (const [, path = ""] of said.matchAll(READS_FILE)) reads(spot, unquoted(path));
  for (const [, path = ""] of said.matchAll(/'([^'\n]+)'/g)) noteSecrets([known(path)], spot);
}

const outputsOfPsql = (args: readonly Text[]): readonly Text[] =>
  readArguments(args, { valued: "c d f F h L o p P R T U v command output log-file" }).values("o", "L");

/** Databases: what the command or its input says is judged by what it loses. */
export const database: Behaviour = ({ name, args, spot }) => {
  if (/^(?:dropdb|dropuser|mysqladmin)$/.test(name) && !args.some((arg) => says.test(textOf(arg)))) {
    noteEffect(spot, { kind: "system", what: `deletes or administers a database with ${name}` });
    return OUTPUT;
  }
  if (args.length === 1 && args[0] && /^(?:--version|--help|-V)$/.test(textOf(args[0]))) return OUTPUT;
  noteInstructed(name, args, spot);
  const said = [...args.map(textOf), spot.input.text ?? ""].join("\n");
  if (said.length > MAX_STATEMENTS) {
    const what = `gives ${name} more statements than can be looked at`;
    noteEffect(spot, { kind: "unknown", what, instead: "Write them into a file in the worktree." });
    return OUTPUT;
  }
  // A file of statements is as opaque as a script.
  const isOtherInput =
    spot.input !== TERMINAL && spot.input.text === undefined && (spot.input.from & ~FROM.outside) !== FROM.files;
  const isUnknown = isOtherInput || args.some((arg, at) => arg.type !== "known" && isStatement(name, args, at));
  filesByStatement(said, spot);
  if (name === "psql") for (const file of outputsOfPsql(args)) writes(spot, file);
  noteOutputs(
    name,
    args.filter((arg) => !/^-\w/.test(startOf(arg))),
    spot,
  );
  const [file] = readArguments(args, { valued: "cmd init separator nullvalue c s e", singleDash: true }).operands;
  if (/^(?:sqlite3|duckdb)$/.test(name) && file && SQL_CHANGES.test(said)) writes(spot, file);
  if (SQL_LOSES.test(said) || (name === "redis-cli" && REDIS_LOSES.test(said)) || MONGO_LOSES.test(said))
    noteEffect(spot, {
      kind: "system",
      what: `deletes data of a database with ${name}`,
      instead: "Write a migration in the repository, and let its tests run it.",
    });
  else if (
    RUNS_PIPED.test(said) ||
    /\\!|\bsystem\b|\bcopy\b[^;]*\bprogram\b|^\.(?:shell|system)\b|\.load\b|load_extension|\b(?:writefile|readfile|edit|fsdir|read_text|read_blob)\s*\(|into\s+(?:out|dump)file|\.output\b|\.once\b/im.test(
      said,
    )
  )
    noteEffect(spot, { kind: "code", what: `lets ${name} run or write something` });
  else if (isUnknown) noteEffect(spot, { kind: "unknown", what: `gives ${name} statements that cannot be told` });
  else noteEffect(spot, { kind: "runs", what: `asks a database with ${name}` });
  return OUTPUT;
};
