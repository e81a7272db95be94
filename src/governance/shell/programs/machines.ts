import type { Behaviour } from "../call.ts";
import { readArguments } from "../options.ts";
import { absolutePaths, writes } from "../paths.ts";
import { noteEffect, type Spot } from "../state.ts";
import { type Flow, FROM, OUTPUT, TERMINAL } from "../values/flow.ts";
import { describeText, known, startOf, type Text, textOf } from "../values/text.ts";
import { takeSecrets } from "../values/variables.ts";

const says = /^(?:--version|--help|-h|-V|version|help)$/;

/** Programs that harm the machine whatever they are given, but for their help. */
export const harms: Behaviour = ({ name, args, spot }) => {
  if (args.length === 1 && args[0] && says.test(textOf(args[0]))) return OUTPUT;
  noteEffect(spot, { kind: "system", what: `changes disks or the whole machine with ${name}` });
  return OUTPUT;
};

/** Users, services, kernel: not an agent's. */
export const administers: Behaviour = ({ name, args, spot }) => {
  const [first = known("")] = args;
  // These ask for what to change, if it is not given.
  const asks = /^(?:passwd|visudo|vipw|chsh)$/.test(name);
  if (
    (textOf(first) === "" && !asks) ||
    says.test(textOf(first)) ||
    /^(?:status|list|list-units|show|is-active|is-enabled|cat|-l|--list|-a)$/.test(textOf(first))
  )
    return OUTPUT;
  noteEffect(spot, { kind: "privilege", what: `administers the machine with ${name}` });
  return OUTPUT;
};

/** Something that runs later, when nothing looks at it. */
export const schedules: Behaviour = ({ name, args, spot }) => {
  if (/^(?:-l|list|-V|--version|--help)$/.test(textOf(args[0] ?? known("")))) return OUTPUT;
  noteEffect(spot, {
    kind: "privilege",
    what: `lets something run later, by ${name}`,
    instead: "Run it now, or tell in the plan what is to be scheduled.",
  });
  return OUTPUT;
};

const SQL_LOSES =
  /\b(?:drop\s+(?:table|database|schema|index|view|user|role|column)|truncate\s|delete\s+from\s+[\w."`]+\s*(?:;|$|"|')|alter\s+table\s+\S+\s+drop|update\s+\S+\s+set\s+(?:(?!\bwhere\b).)*$|grant\s|revoke\s|shutdown\b)/is;
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

/** Files that statements name. */
function writesByStatement(said: string, spot: Spot): void {
  for (const [, path = ""] of said.matchAll(SQL_FILES)) if (!path.startsWith(":")) writes(spot, known(path));
}

/** Databases: what the command or its input says is judged by what it loses. */
export const database: Behaviour = ({ name, args, spot }) => {
  if (/^(?:dropdb|dropuser|mysqladmin)$/.test(name) && !args.some((arg) => says.test(textOf(arg)))) {
    noteEffect(spot, { kind: "system", what: `deletes or administers a database with ${name}` });
    return OUTPUT;
  }
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
  writesByStatement(said, spot);
  const [file] = readArguments(args, { valued: "cmd init separator nullvalue c s e", singleDash: true }).operands;
  if (/^(?:sqlite3|duckdb)$/.test(name) && file && SQL_CHANGES.test(said)) writes(spot, file);
  if (SQL_LOSES.test(said) || (name === "redis-cli" && REDIS_LOSES.test(said)) || MONGO_LOSES.test(said))
    noteEffect(spot, {
      kind: "system",
      what: `deletes data of a database with ${name}`,
      instead: "Write a migration in the repository, and let its tests run it.",
    });
  else if (
    /\\!|\bsystem\b|\bcopy\b[^;]*\bprogram\b|^\.(?:shell|system)\b|\.load\b|load_extension|\b(?:writefile|readfile|edit|fsdir|read_text|read_blob)\s*\(|into\s+(?:out|dump)file|\.output\b|\.once\b/im.test(
      said,
    )
  )
    noteEffect(spot, { kind: "code", what: `lets ${name} run or write something` });
  else if (isUnknown) noteEffect(spot, { kind: "unknown", what: `gives ${name} statements that cannot be told` });
  else noteEffect(spot, { kind: "runs", what: `asks a database with ${name}` });
  return OUTPUT;
};

/** Words of tools for machines elsewhere, by what they do. */
const READS_ELSEWHERE =
  /^(?:get|list|ls|describe|show|status|version|help|logs?|top|explain|diff|plan|validate|fmt|lint|template|output|inspect|images|ps|info|history|search|config|cluster-info|api-resources|api-versions|whoami|auth|head-object|lookup|view|graph|state|providers|search-\S+|list-\S+|describe-\S+|get-\S+)$/;
const HARMS_ELSEWHERE =
  /^(?:delete|destroy|terminate|drop|rm|rmi|rb|remove|prune|purge|apply|create|run|exec|patch|replace|scale|drain|cordon|rollout|set|put|update|deploy|release|publish|push|cp|sync|mv|kill|stop|start|restart|import|taint|untaint|force-unlock|uninstall|upgrade|install|rollback|invoke|send-\S+|put-\S+|delete-\S+|create-\S+|update-\S+|terminate-\S+|stop-\S+|run-\S+|modify-\S+|attach-\S+)$/;

const SECRETS_ELSEWHERE =
  /^(?:secrets?|secret\/.*|secretsmanager|get-secret-value|get-session-token|get-login-password|get-federation-token|print-access-token|print-identity-token|config:get|get-credentials)$/;

/** How settings are asked for in which services keep tokens and passwords, by words without options. */
const SHOWS_SECRETS: ReadonlyMap<string, RegExp> = new Map([
  ["heroku", /^config(?:$|[ :](?!set|unset))|^(?:auth:token|\S+:credentials)/],
  ["vercel", /^env (?:pull|run)\b/],
  ["netlify", /^env:(?:list|get|clone)\b/],
  ["railway", /^(?:variables?|vars|run|shell)\b/],
  ["doppler", /^(?:run|configs tokens)\b/],
  ["firebase", /^functions:(?:config:get|secrets:access)\b/],
  ["supabase", /^projects api-keys\b/],
  ["stripe", /^config\b/],
  ["fly", /^(?:tokens?|auth token)\b/],
  ["flyctl", /^(?:tokens?|auth token)\b/],
  [
    "aws",
    /^(?:ssm get-parameters?\S*|configure (?:get|export-credentials)|sts (?:assume-role|get-session-token|get-federation-token)|kms decrypt)/,
  ],
  ["az", /\b(?:keys list|get-access-token|appsettings list|show-connection-string)\b/],
  ["gcloud", /\bkms decrypt\b/],
  ["vault", /^(?:read|kv get|token|unwrap|print token)\b/],
  ["consul", /^kv (?:get|export)\b/],
  ["terraform", /^state pull\b/],
  ["tofu", /^state pull\b/],
  ["pulumi", /^stack export\b/],
]);

/** aws, kubectl, terraform and their like: reading passes, everything else is for people. */
export const elsewhere: Behaviour = ({ name, args, spot }) => {
  const words = args.map(textOf).filter((word) => !word.startsWith("-") && word !== "");
  const harm = words.find((word) => HARMS_ELSEWHERE.test(word));
  const isSecret =
    words.some((word) => SECRETS_ELSEWHERE.test(word)) ||
    SHOWS_SECRETS.get(name)?.test(words.join(" ")) ||
    args.some((arg) => /^--(?:show-secrets|with-decryption)$/.test(textOf(arg)));
  if (isSecret) {
    const path = known(`${spot.line.place.home}/.config/gcloud`);
    noteEffect(spot, { kind: "reads", what: `reads tokens or passwords with ${name}`, path });
  }
  const isBareDeploy = /^(?:vercel|now)$/.test(name) && !args.some((arg) => says.test(textOf(arg)));
  const isRead =
    harm === undefined && ((words.length === 0 && !isBareDeploy) || words.some((word) => READS_ELSEWHERE.test(word)));
  if (words[0] === "init" && /^(?:terraform|tofu|terragrunt)$/.test(name)) {
    noteEffect(spot, { kind: "runs", what: `runs ${name} init` });
    return OUTPUT;
  }
  noteEffect(
    spot,
    isRead
      ? { kind: "fetches", what: `${name} asks another machine` }
      : {
          kind: "sends",
          what: `changes something elsewhere with ${name} ${harm ?? words[0] ?? ""}`,
          instead: "Tell in the plan what is to be done there; a person does it.",
        },
  );
  return OUTPUT;
};

const LOOKS_AT_CONTAINERS =
  /^(?:|ps|images|image|logs|inspect|version|info|search|history|top|stats|port|diff|events|network)$/;
const CHANGES_CONTAINERS =
  /^(?:system|volume|builder|rm|rmi|kill|stop|push|login|swarm|service|stack|secret|plugin|trust|load|import|save|export|cp|commit|update|rename|prune|context)$/;
const CONTAINER_VALUED =
  "v volume mount e env env-file name p publish w workdir u user network net pid ipc uts userns entrypoint l label h hostname m memory cpus cap-add device security-opt add-host platform pull restart log-driver tmpfs shm-size ulimit gpus volumes-from";

/** Containers: building and looking is ordinary work; a container that has the machine is not. */
export const container: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    valued: "H host c context config l log-level f file p project-name profile env-file",
    stopsAtOperand: true,
  });
  // `docker compose run` is like `docker run`, and `docker container rm` like `docker rm`.
  const [sub, ...rest] = given.operands.filter((one, at) => at > 0 || !/^(?:compose|container)$/.test(textOf(one)));
  const word = textOf(sub ?? known(""));
  if (given.values("H", "host").length > 0)
    noteEffect(spot, { kind: "sends", what: `${name} works on another machine` });
  if (LOOKS_AT_CONTAINERS.test(word) && !rest.some((one) => HARMS_ELSEWHERE.test(textOf(one)))) return OUTPUT;
  if (word === "down" && rest.some((one) => /^(?:-v|--volumes|--rmi)/.test(textOf(one))))
    noteEffect(spot, { kind: "system", what: `deletes data of containers with ${name} down` });
  if (word === "run" || word === "exec" || word === "create") return startContainer(rest, spot);
  if (CHANGES_CONTAINERS.test(word) && !/^(?:ls|inspect|df|info)$/.test(textOf(rest[0] ?? known("")))) {
    noteEffect(
      spot,
      word === "push" || word === "login"
        ? { kind: "sends", what: `${name} ${word} reaches another machine` }
        : { kind: "system", what: `changes containers of this machine with ${name} ${word}` },
    );
    return OUTPUT;
  }
  if (/^(?:build|buildx)$/.test(word))
    for (const target of readArguments(rest, { valued: "o output t tag f file" }).values("o", "output"))
      writes(spot, known(/dest=([^,]*)/.exec(textOf(target))?.[1] ?? textOf(target)));
  noteEffect(spot, { kind: "runs", what: `runs ${name} ${word}` });
  return OUTPUT;
};

function startContainer(args: readonly Text[], spot: Spot): Flow {
  const given = readArguments(args, { valued: CONTAINER_VALUED, stopsAtOperand: true });
  const [image, ...words] = given.operands;
  const shown = describeText(image ?? known("?"));
  const sharesMachine =
    given.has("privileged", "cap-add", "device", "security-opt", "userns", "volumes-from") ||
    given.values("pid", "ipc", "uts", "network", "net").some((value) => /^(?:host|container:)/.test(textOf(value)));
  if (sharesMachine || given.values("v", "volume", "mount").some((mount) => !isOwnMount(mount, spot)))
    noteEffect(spot, {
      kind: "privilege",
      what: `starts a container that has more of the machine than the worktree: ${shown}`,
    });
  noteEffect(spot, { kind: "runs", what: `runs a container: ${shown}` });
  for (const file of given.values("env-file")) takeSecrets(file, spot);
  for (const program of given.values("entrypoint")) spot.line.engine.runWords([program, ...words], spot);
  return words.length > 0 ? spot.line.engine.runWords(words, spot) : OUTPUT;
}

/** A named volume, or a folder of the worktree that is not git's. */
function isOwnMount(mount: Text, spot: Spot): boolean {
  if (mount.type !== "known") return false;
  const [, named] = /(?:^|,)(?:source|src)=([^,]*)/.exec(mount.text) ?? [];
  if (/^type=(?:volume|tmpfs)\b/.test(mount.text)) return true;
  const source = named ?? mount.text.split(":")[0] ?? "";
  if (/^[\w-]+$/.test(source) && named === undefined) return true;
  const { folder } = spot.line.place;
  return absolutePaths(known(source), spot).every(
    (path) => path.type === "known" && (path.text === folder || path.text.startsWith(`${folder}/`)),
  );
}

export const strip: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, { valued: "o output-target I F O input-target j R N K G w D add-section" });
  const [source, target] = given.operands;
  for (const file of given.values("o")) writes(spot, file);
  if (name === "objcopy" && target) writes(spot, target);
  else if (source && given.values("o").length === 0) writes(spot, source);
  return OUTPUT;
};
