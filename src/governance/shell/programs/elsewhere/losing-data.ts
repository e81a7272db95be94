import type { ProgramCall } from "../../call.ts";
import { noteEffect, type Spot } from "../../state/state.ts";
import { textOf } from "../../values/text.ts";

const TASKS = /(?:^| )db:(?:drop|reset|purge|truncate|migrate:reset)\S*/;
const ARTISAN = /(?:^|[ /])(?:artisan )?(?:migrate:(?:fresh|reset|refresh)|db:wipe)\b/;
const MANAGE = /(?:^|[ /])(?:manage\.py )?(?:flush|reset_db|migrate \S+ zero)\b/;

/** How tools delete data of databases, queues and backups, by their arguments. What a script of the project is called says nothing. */
const LOSES: ReadonlyMap<string, RegExp> = new Map([
  ["celery", /(?:^| )purge\b/],
  ["rails", TASKS],
  ["rake", TASKS],
  ["artisan", ARTISAN],
  ["sail", ARTISAN],
  [
    "php",
    /(?:^|\/)(?:artisan .*(?:migrate:(?:fresh|reset|refresh)|db:wipe)|console doctrine:(?:database|schema):drop)\b/,
  ],
  ["manage.py", MANAGE],
  ["django-admin", MANAGE],
  ...["python", "python3"].map((name): [string, RegExp] => [
    name,
    /(?:^|[ /])manage\.py (?:flush|reset_db|migrate \S+ zero)\b/,
  ]),
  ["console", /doctrine:(?:database|schema):drop|dbal:run-sql .*\b(?:drop|truncate|delete)\b/i],
  ["prisma", /^migrate reset\b|--force-reset|--accept-data-loss/],
  ...["sequelize", "sequelize-cli", "typeorm"].map((name): [string, RegExp] => [name, /:drop\b|:undo:all/]),
  ["knex", /migrate:rollback .*--all/],
  ["drizzle-kit", /^push\b.*--force/],
  ["mix", /(?:^| )ecto\.(?:drop\b|reset\b|rollback .*--all\b)/],
  ["alembic", /downgrade base\b/],
  ["flask", /db downgrade base\b/],
  ["flyway", /(?:^| )clean\b/],
  ["liquibase", /drop-?all\b/i],
  ["migrate", /(?:^| )drop\b/],
  ["atlas", /^schema clean\b/],
  ...["diesel", "sqlx"].map((name): [string, RegExp] => [name, /database (?:drop|reset)\b/]),
  ["sea-orm-cli", /migrate (?:fresh|reset|refresh)\b/],
  ["dotnet", /^ef database drop\b/],
  ["wp", /^db (?:drop|reset|clean)\b/],
  ["drush", /^sql[:-]drop\b/],
  ["pg_restore", /(?:^| )(?:-c|--clean)\b/],
  ["mongorestore", /(?:^| )--drop\b/],
  ["cypher-shell", /\b(?:delete|drop)\b/i],
  ...["topics", "consumer-groups", "delete-records"]
    .flatMap((tool) => [`kafka-${tool}`, `kafka-${tool}.sh`])
    .map((name): [string, RegExp] => [name, /(?:^| )--(?:delete|offset-json-file)\b/]),
  ["rabbitmqctl", /^(?:force_)?reset\b/],
  ["nats", /^\w+ rm\b/],
  ["restic", /(?:^| )(?:forget|prune)\b/],
  ["borg", /^(?:prune|recreate|compact|rdelete|repo-delete)\b/],
]);

export const losesData = (name: string): boolean => LOSES.has(name);

const TEST_SETTINGS = ["RAILS_ENV", "RACK_ENV", "MIX_ENV", "APP_ENV", "NODE_ENV"];

/** A database for tests is made anew all the time. */
const isForTests = (line: string, { shell }: Spot): boolean =>
  /(?:^| )--env[= ]test(?:ing)?\b/.test(line) ||
  TEST_SETTINGS.some((name) => shell.variables.get(name)?.every((value) => /^test(?:ing)?$/.test(textOf(value))));

export function noteLostData({ name, args, spot }: ProgramCall): void {
  const loses = LOSES.get(name);
  if (!loses) return;
  const line = args.map(textOf).join(" ");
  if (!loses.test(line) || isForTests(line, spot)) return;
  noteEffect(spot, {
    kind: "system",
    what: `deletes data with ${name} ${line}`.slice(0, 120),
    instead: "Tell in the plan what is to be deleted; a person does it.",
  });
}

const DESTROYS =
  /^(?:(?:delete|del|destroy|drop|purge|prune|wipe|erase|terminate|deprovision|unregister|rb)|(?:Delete|Destroy|Remove|Terminate)[A-Z]\w*)$/;
const SENDS = /^(?:publish|upload|upload[-_]\w+|deploy|push|submit)$/;
const ADDRESS = /^[a-z][a-z\d]*:\/\//;
const IS_FORCED = /^(?:-f|-y|--force|--yes|--all)$/;
/** One command in a single word: `delete-job`, `sites:delete`. */
const DESTROYS_ONE = /^(?:delete|destroy|drop|purge|wipe)[-_:]\w|:(?:delete|destroy|drop|remove|wipe)$/;
/** What stands behind these is a name, or what is looked for. */
const BEFORE_NAME =
  /^(?:run|test|exec|search|find|grep|help|show|list|ls|get|create|new|add|init|generate|describe|explain|check|lint|log|info|status|print|start|watch|build)$|[./]/;
/** They run tasks of the project, whose names say nothing, or mean the schema of a database by these words. */
const MEANS_LESS = /^(?:gulp|grunt|mage|invoke|inv|doit|poe|hereby|rushx|wireit|prisma|drizzle-kit|migrate)$/;

/** A program that is not known does what the words say with which it is called. */
export function noteByWords({ name, args, spot }: ProgramCall): void {
  if (MEANS_LESS.test(name)) return;
  const words = args.map(textOf).filter((word) => !word.startsWith("-"));
  for (const [at, word] of words.slice(0, 3).entries()) {
    const removes =
      (word === "rm" && words.some((one) => ADDRESS.test(one))) ||
      (word === "remove" && args.some((arg) => IS_FORCED.test(textOf(arg))));
    if (removes || DESTROYS.test(word) || (at === 0 && DESTROYS_ONE.test(word))) {
      const what = `deletes something with ${name} ${words.slice(0, at + 1).join(" ")}`;
      noteEffect(spot, { kind: "system", what, instead: "Tell in the plan what is to be deleted; a person does it." });
    } else if (SENDS.test(word))
      noteEffect(spot, { kind: "sends", what: `gives something to others with ${name} ${word}` });
    if (BEFORE_NAME.test(word)) return;
  }
}
