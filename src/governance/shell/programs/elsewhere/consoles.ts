import type { ProgramCall } from "../../call.ts";
import { reads } from "../../paths.ts";
import { noteEffect } from "../../state/state.ts";
import { FROM, TERMINAL } from "../../values/flow.ts";
import { known, textOf } from "../../values/text.ts";
import { database } from "./databases.ts";

const MANAGE = /(?:^|\/)manage\.py (?:shell|shell_plus|dbshell)(?= |$)/;
const ARTISAN = /^(?:\S*artisan )?(?:tinker|db)(?= |$)/;

/** Consoles of frameworks, by their arguments: what they are given as input, they run. */
const CONSOLES: ReadonlyMap<string, RegExp> = new Map([
  ["rails", /^(?:c|console|db|dbconsole)(?= |$)/],
  ["python", MANAGE],
  ["python3", MANAGE],
  ...["manage.py", "django-admin"].map((name): [string, RegExp] => [name, /^(?:shell|shell_plus|dbshell)(?= |$)/]),
  ...["php", "artisan", "sail"].map((name): [string, RegExp] => [name, ARTISAN]),
  ["flask", /(?:^| )shell(?= |$)/],
  ["wp", /^(?:shell|db cli|db query)(?= |$)/],
  ["prisma", /^db execute .*--stdin(?= |$)/],
  ["sbt", /^console(?= |$)/],
]);

/** Those of them that take statements for a database. */
const TAKES_STATEMENTS = /(?:^| )(?:db|dbconsole|dbshell|db cli|db query|db execute .*)$/;

/** How tools print the keys that a project keeps encrypted, or outside of itself. */
const SHOWS_KEYS: ReadonlyMap<string, RegExp> = new Map([
  ["rails", /^(?:credentials|secrets|encrypted):(?:show|edit|diff)(?= |$)/],
  ["dotnet", /^user-secrets list(?= |$)/],
  ["kamal", /^secrets (?:print|extract|fetch)(?= |$)/],
]);

export function noteConsole(call: ProgramCall): void {
  const { name, args, spot } = call;
  const [console, keys] = [CONSOLES.get(name), SHOWS_KEYS.get(name)];
  if (!console && !keys) return;
  const line = args.map(textOf).join(" ");
  if (keys?.test(line)) reads(spot, known(`${spot.line.place.folder}/config/master.key`));
  const [found] = console?.exec(line) ?? [];
  const { input } = spot;
  // A file is as opaque as a script.
  if (found === undefined || input === TERMINAL || input.text === "" || input.from === FROM.files) return;
  if (TAKES_STATEMENTS.test(found)) database({ name: "psql", args: [], spot });
  else
    noteEffect(spot, {
      kind: "code",
      what: `gives ${name} ${found} code that stands in the command`,
      instead: "Write it into a script or a test of the project, and run that.",
      interpreter: input.from & (FROM.network | FROM.decoded) ? undefined : name,
    });
}
