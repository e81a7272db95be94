import type { Behaviour } from "../../call.ts";
import { readArguments } from "../../options.ts";
import { inFolder, worksHere, writes } from "../../paths.ts";
import { noteEffect } from "../../state/state.ts";
import { OUTPUT } from "../../values/flow.ts";
import { known, type Text, textOf } from "../../values/text.ts";
import { noteOutputs } from "../outputs.ts";

export const says = /^(?:--version|--help|-h|-V|version|help)$/;

/** Programs that harm the machine whatever they are given, but for their help. */
export const harms: Behaviour = ({ name, args, spot }) => {
  if (args.length === 1 && args[0] && says.test(textOf(args[0]))) return OUTPUT;
  noteEffect(spot, { kind: "system", what: `changes disks or the whole machine with ${name}` });
  return OUTPUT;
};

const ASKS_MACHINE = /^(?:status|list|list-\S+|show|show-\S+|is-\S+|cat|info|search|--list|--status-all)$/;
const ASKS_OWN: ReadonlyMap<string, RegExp> = new Map([
  ["dpkg", /^-[lLsSp]$/],
  ["rpm", /^-q/],
  ["pacman", /^-Q/],
  ["sysctl", /^(?:-a|[\w.]+)$/],
  ["mount", /^-l$/],
  ["brew", /^(?:outdated|deps|leaves|desc|doctor|config|--(?:prefix|cellar|cache|repository))$/],
]);

/** Users, services, kernel: not an agent's. */
export const administers: Behaviour = ({ name, args, spot }) => {
  const [first = known("")] = args;
  // These ask for what to change, if it is not given.
  const asks = /^(?:passwd|visudo|vipw|chsh)$/.test(name);
  if (
    (textOf(first) === "" && !asks) ||
    says.test(textOf(first)) ||
    ASKS_MACHINE.test(textOf(first)) ||
    ASKS_OWN.get(name)?.test(textOf(first))
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

/** Words of tools for machines elsewhere, by what they do. */
const READS_ELSEWHERE =
  /^(?:get|list|ls|describe|show|status|version|help|logs?|top|explain|diff|plan|validate|fmt|lint|template|output|inspect|images|ps|info|history|search|config|cluster-info|api-resources|api-versions|kustomize|whoami|auth|head-object|lookup|view|graph|state|providers|search-\S+|list-\S+|describe-\S+|get-\S+)$/;
export const HARMS_ELSEWHERE =
  /^(?:delete|destroy|terminate|drop|rm|rmi|rb|remove|prune|purge|apply|create|run|exec|patch|replace|scale|drain|cordon|rollout|set|put|update|deploy|release|publish|push|cp|sync|mv|kill|stop|start|restart|import|taint|untaint|force-unlock|uninstall|upgrade|install|rollback|invoke|send-\S+|put-\S+|delete-\S+|create-\S+|update-\S+|terminate-\S+|stop-\S+|run-\S+|modify-\S+|attach-\S+|set-\S+|unset|enable|disable|login|logout|revoke|(?:use|rename)-context)$/;

const SECRETS_ELSEWHERE =
  /^(?:secrets?|secret\/.*|secretsmanager|get-secret-value|get-session-token|get-login-password|get-federation-token|print-access-token|print-identity-token|config:get|get-credentials)$/;

/** What such tools do on this machine: servers to try things out, and builds. */
const LOCAL =
  /^(?:\S+ (?:dev|build|types|synth|offline|emulators:start|dependency|dep)|pulumi preview|(?:serverless|sls) package)$/;

/** Only checks what would be done, on this machine. */
const REHEARSES = /^--(?:dry-run=client|syntax-check|list-tasks|list-hosts|list-tags)$/;

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
  ["gcloud", /\bkms decrypt\b|^config config-helper\b/],
  ["vault", /^(?:read|kv get|token|unwrap|print token)\b/],
  ["consul", /^kv (?:get|export)\b/],
  // Without a name, `output` hides what is secret.
  ["terraform", /^(?:state pull|output [^-\s])/],
  ["tofu", /^(?:state pull|output [^-\s])/],
  ["pulumi", /^stack export\b/],
]);

const ASKS_CLUSTER =
  /^(?:get|describe|logs?|top|explain|events|version|cluster-info|api-(?:resources|versions)|rollout (?:status|history))\b/;

/** What else only asks, though it is called like something that changes, or like nothing else. */
const ASKS_BY_WORDS: ReadonlyMap<string, RegExp> = new Map([
  ["aws", /^dynamodb (?:scan|query|batch-get-item)\b/],
  [
    "gcloud",
    /^(?:(?:run|app) (?:services|jobs|revisions|executions|versions|instances)(?: executions)? (?:list|describe)\b|(?:logging|app logs) read\b|storage (?:cat|du)\b)/,
  ],
  ["gsutil", /^(?:cat|du|stat|hash)\b/],
  ["heroku", /^(?:apps|releases|domains|addons|buildpacks|features|regions|stack)$/],
  ["firebase", /^[a-z:]+:list$/],
  ["consul", /^(?:members|catalog (?:nodes|services))$/],
]);

/** Behind these, `deploy` and its like are names of things. */
function onlyAsks(name: string, args: readonly Text[]): boolean {
  if (/^(?:lint|template|validate|list|ls|status|history|version|search)$/.test(textOf(args[0] ?? known(""))))
    return true;
  if (name !== "kubectl" && name !== "oc") return false;
  const { operands } = readArguments(args, { valued: "n namespace context cluster kubeconfig user s server" });
  return ASKS_CLUSTER.test(operands.slice(0, 2).map(textOf).join(" "));
}

/** aws, kubectl, terraform and their like: reading passes, everything else is for people. */
export const elsewhere: Behaviour = ({ name, args, spot }) => {
  const words = args.map(textOf).filter((word) => !word.startsWith("-") && word !== "");
  const isRehearsal = args.some((arg) => REHEARSES.test(textOf(arg)));
  const isAsking = isRehearsal || onlyAsks(name, args) || ASKS_BY_WORDS.get(name)?.test(words.join(" ")) === true;
  const harm = isAsking ? undefined : words.find((word) => HARMS_ELSEWHERE.test(word));
  const isSecret =
    words.some((word) => SECRETS_ELSEWHERE.test(word)) ||
    SHOWS_SECRETS.get(name)?.test(words.join(" ")) ||
    args.some((arg) => /^--(?:show-secrets|with-decryption)$/.test(textOf(arg))) ||
    (words[0] === "output" && args.some((arg) => /^--?(?:json|raw)$/.test(textOf(arg)))) ||
    (words[0] === "config" && args.some((arg) => textOf(arg) === "--raw"));
  if (isSecret) {
    const path = known(`${spot.line.place.home}/.config/gcloud`);
    noteEffect(spot, { kind: "reads", what: `reads tokens or passwords with ${name}`, path });
  }
  noteOutputs(name, args, spot);
  const starts = args.find((arg) => /^--post-renderer(?:=|$)/.test(textOf(arg)));
  if (starts) noteEffect(spot, { kind: "code", what: `makes ${name} run another program` });
  const isBareDeploy = /^(?:vercel|now)$/.test(name) && !args.some((arg) => says.test(textOf(arg)));
  const isRead =
    isAsking ||
    (harm === undefined && ((words.length === 0 && !isBareDeploy) || words.some((word) => READS_ELSEWHERE.test(word))));
  const isTerraform = /^(?:terraform|tofu|terragrunt)$/.test(name);
  const isFormatting = words[0] === "fmt" && !args.some((arg) => /^--?(?:check|write=false)$/.test(textOf(arg)));
  const isLocking = words[0] === "providers" && /^(?:lock|mirror)$/.test(words[1] ?? "");
  if (isTerraform && (words[0] === "init" || isFormatting || isLocking)) {
    const folders = args.flatMap((arg) => /^--?chdir=(.*)$/.exec(textOf(arg))?.[1] ?? []).map(known);
    const made = isFormatting ? words.slice(1) : words[1] === "mirror" ? words.slice(2) : [];
    for (const path of made) writes(spot, known(path));
    worksHere(inFolder(spot, folders), `runs ${name} ${words[0]}`);
    return OUTPUT;
  }
  const isLocal = LOCAL.test(`${name} ${words[0] ?? ""}`) && (harm === undefined || /^dep/.test(words[0] ?? ""));
  if (isLocal && !args.some((arg) => textOf(arg) === "--remote")) {
    worksHere(spot, `runs ${name} ${words[0]}`);
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

export const strip: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, { valued: "o output-target I F O input-target j R N K G w D add-section" });
  const [source, target] = given.operands;
  for (const file of given.values("o")) writes(spot, file);
  if (name === "objcopy" && target) writes(spot, target);
  else if (source && given.values("o").length === 0) writes(spot, source);
  return OUTPUT;
};
