import { posix } from "node:path";
import { isSecretAddress } from "../../shell/values/addresses.ts";
import { expandBraces } from "../../shell/values/braces.ts";
import { below, isTemporary, matchesAny } from "../paths.ts";
import type { Policy } from "../policy-file.ts";
import {
  isAnswer,
  type LocatedPath,
  locate,
  type PolicyRule,
  type Question,
  type RuleRefusal,
  startFolder,
} from "../rule.ts";
import { configuredSecret, isSecret, secretMeant } from "../secrets.ts";

export const pathScope: PolicyRule = {
  name: "path scope",
  purpose: "A role writes where its work is, wherever links lead; secrets are read by no role.",
  judge(question) {
    const { kind, paths, url } = question.request;
    const isWrite = kind === "write" || kind === "edit";
    if (kind === "web" && url !== undefined && isSecretAddress(url)) return refuseAddress(url, question);
    if (!isWrite && kind !== "read" && kind !== "search" && kind !== "delegate") return undefined;
    const named = kind === "search" ? searchedIn(paths) : kind === "delegate" ? inHome(paths, question) : paths;
    if (!named) return tooMany(question);
    for (const path of named) {
      const located = locate(path, question);
      const refusal = isWrite ? refuseWrite(located, question) : refuseRead(located, question);
      if (refusal) return refusal;
      const beside = kind === "read" ? refuseInstructions(located, question) : undefined;
      if (beside) return beside;
    }
    return undefined;
  },
};

/** With a file that is read, programs read these in the folders above it by themselves; those at the top they have read before. */
const INSTRUCTIONS = ["AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "CONTEXT.md"];

/** One of them that is a link is read where that leads. */
function refuseInstructions({ given, inTree }: LocatedPath, question: Question): RuleRefusal | undefined {
  const { policy, files, request } = question;
  const named = below(posix.resolve(startFolder(request, policy), given), policy.root);
  const folders = new Set([inTree, named].flatMap((path) => (path === undefined ? [] : foldersAbove(path))));
  for (const folder of folders)
    for (const name of INSTRUCTIONS) {
      const path = `${policy.root}/${folder}/${name}`;
      const refusal = typeof files.link(path) === "string" ? refuseRead(locate(path, question), question) : undefined;
      if (refusal) return { ...refusal, what: `${refusal.what} It is read with each file in its folder.` };
    }
  return undefined;
}

/** Those of the worktree, without itself. */
function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) folders.push(path.slice(0, at));
  return folders;
}

/** Where the run may write: what the role has, narrowed by the task. */
export function isInScope(located: LocatedPath, { policy, ground }: Question): boolean {
  const { real, inTree } = located;
  if (real === undefined) return false;
  const isOwn =
    inTree !== undefined &&
    matchesAny(inTree, policy.role.paths) &&
    (policy.paths === null || matchesAny(inTree, policy.paths));
  return isOwn || isTemporary(real, ground) || real === "/dev/null" || isAnswer(located);
}

/** What decides where a path that is out of scope lies: the role, or the task where the role would write there. */
export function scopeOfPath(
  { inTree }: LocatedPath,
  { role, paths }: Policy,
): { owner: string; paths: readonly string[] } {
  const isOfTask = paths !== null && (inTree === undefined || matchesAny(inTree, role.paths));
  return isOfTask ? { owner: "this task", paths } : { owner: `the role "${role.name}"`, paths: role.paths };
}

function refuseWrite(located: LocatedPath, question: Question): RuleRefusal | undefined {
  if (isInScope(located, question)) return undefined;
  const { policy, request } = question;
  const leads = located.real !== undefined && located.real !== located.given ? `, which is ${located.real}` : "";
  const { owner, paths } = scopeOfPath(located, policy);
  const isWide = paths.includes("**");
  return {
    what: `You tried to change ${located.given}${leads} with "${request.tool}".`,
    why: isWide
      ? `Only what lies below ${policy.root} is yours to change.`
      : `${owner.charAt(0).toUpperCase()}${owner.slice(1)} changes only: ${paths.join(", ") || "nothing"}.`,
    useInstead: isWide
      ? `Use a path below ${policy.root}, or ${policy.temporary} for files that you need for a moment.`
      : "Say in your answer what should be changed there.",
    evidence: `policy.root = "${policy.root}", policy.role.paths = ${JSON.stringify(policy.role.paths)}, policy.paths = ${JSON.stringify(policy.paths)}`,
  };
}

/** What is mentioned to a sub-agent may begin with the home, as for a shell. */
const inHome = (paths: readonly string[], { policy }: Question): string[] =>
  paths.map((path) => (path.startsWith("~/") ? `${policy.home}${path.slice(1)}` : path));

/** What a search names: its folder, and its patterns there, which mean names at any depth where they have no folder of their own. */
function searchedIn(paths: readonly string[]): string[] | undefined {
  const [folder, ...patterns] = paths.filter((path) => !path.startsWith("!"));
  if (folder === undefined) return [];
  const named: string[] = [];
  const inFolder = patterns.map((pattern) => (pattern.startsWith("/") ? pattern : `${folder}/${pattern}`));
  for (const path of [folder, ...inFolder]) {
    const alternatives = expandBraces(path);
    if (!alternatives) return undefined;
    named.push(...alternatives);
  }
  return [...named, ...named.filter((path) => !/^\*|\//.test(path)).map((path) => `**/${path}`)];
}

function tooMany({ request }: Question): RuleRefusal {
  return {
    what: `You tried to search with "${request.tool}".`,
    why: "Its pattern has too many alternatives: whether one of them is a secret cannot be told.",
    useInstead: "Search with a shorter pattern.",
    evidence: `${request.paths.length} paths and patterns, with too many alternatives in braces`,
  };
}

function refuseRead({ given, real, inTree }: LocatedPath, { policy, request }: Question): RuleRefusal | undefined {
  const path = real ?? given;
  const said = inTree === undefined ? undefined : configuredSecret(inTree, policy.secrets);
  if (said === "not-secret") return undefined;
  // What is searched for may be a pattern.
  const type = request.kind === "search" ? "glob" : "known";
  const meant = type === "glob" && inTree !== undefined ? secretMeant(inTree, policy.secrets) : undefined;
  const named = said?.pattern ?? meant;
  if (named === undefined && !isSecret({ type, text: path }) && !isSecret({ type, text: given })) return undefined;
  return {
    what: `You tried to read ${given} with "${request.tool}".`,
    why: "It holds secrets. What you read may end in a log, or in a model's memory.",
    useInstead: "Use an example file, or let the program that needs it read it: tests and scripts may.",
    evidence:
      named === undefined ? `${path} is among the files that always are secret` : `governance.secrets has ${named}`,
  };
}

function refuseAddress(url: string, { request }: Question): RuleRefusal {
  return {
    what: `You tried to read ${url} with "${request.tool}".`,
    why: "Machines in a cloud get their tokens there. What you read may end in a log, or in a model's memory.",
    useInstead: "Say in your answer what you need to know about the machine.",
    evidence: `${url} is an address for metadata of a machine`,
  };
}
