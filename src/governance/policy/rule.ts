import { type Found, findNode } from "../graph/lookup.ts";
import type { TaskGraph } from "../graph/schema.ts";
import type { Effect, EffectTree } from "../shell/effects.ts";
import type { Denial } from "./denial.ts";
import { below, type Files, type Ground, isTemporary, matchesAny, realPath } from "./paths.ts";
import type { Policy } from "./policy-file.ts";
import { onlyLooks, type ToolRequest } from "./request.ts";
import { ANSWERS } from "./roles.ts";

/** Everything that a rule may ask. */
export interface Question {
  readonly request: ToolRequest;
  readonly graph: TaskGraph;
  readonly policy: Policy;
  readonly now: number;
  readonly files: Files;
  readonly ground: Ground;
  /** What was located for this question: several rules look at the same paths. */
  located: Map<string, LocatedPath> | undefined;
  /** What the shell command does, and whether it only looks at things; found out once, when a rule asks. */
  effects(): EffectTree;
  looks: boolean | undefined;
  /** Whether it writes answers only, found out once as well. */
  answers: boolean | undefined;
  /** The task that the policy names, once a rule has asked for it. */
  task: Found | undefined;
}

/** The task that the run is for, found once: several rules ask. */
export function taskInHand(question: Question): Found | undefined {
  const { graph, policy } = question;
  question.task ??= policy.node === null ? undefined : findNode(graph, policy.node);
  return question.task;
}

export type RuleRefusal = Omit<Denial, "rule">;

/** One reason to deny. Rules do not know each other; their order is that of the list. */
export interface PolicyRule {
  readonly name: string;
  /** One sentence, for `prloom rules`. */
  readonly purpose: string;
  judge(question: Question): RuleRefusal | undefined;
}

/** The real path of what a request names, and its name below the worktree, where it is there. */
export interface LocatedPath {
  readonly given: string;
  readonly real: string | undefined;
  readonly inTree: string | undefined;
}

/** The folder that a call is made in, absolute. */
export function startFolder({ folder }: Pick<ToolRequest, "folder">, { root }: Policy): string {
  if (folder === undefined) return root;
  return folder.startsWith("/") ? folder : `${root}/${folder}`;
}

export function locate(given: string, question: Question): LocatedPath {
  const { policy, files, request, ground } = question;
  question.located ??= new Map();
  const before = question.located.get(given);
  if (before) return before;
  const real = realPath(given, startFolder(request, policy), files, ground);
  const made = { given, real, inTree: real === undefined ? undefined : below(real, ground.root) };
  question.located.set(given, made);
  return made;
}

/** The same, of a link that is meant itself, and not what it leads to. */
export function locateItself(given: string, question: Question): LocatedPath {
  const at = given.lastIndexOf("/");
  const { real: folder } = locate(given.slice(0, at) || "/", question);
  const real = folder === undefined ? undefined : `${folder === "/" ? "" : folder}${given.slice(at)}`;
  if (real === undefined || typeof question.files.link(real) !== "string") return locate(given, question);
  return { given, real, inTree: below(real, question.ground.root) };
}

/** Whether the request writes nothing but what every role answers with, or needs for a moment. */
export function onlyAnswers(question: Question): boolean {
  const { kind, paths } = question.request;
  if (kind === "shell") {
    question.answers ??= !onlyLooksAt(question) && writesAnswers(question.effects(), question);
    return question.answers;
  }
  if (kind !== "write" && kind !== "edit") return false;
  return paths.length > 0 && paths.every((path) => isFree(locate(path, question), question));
}

function writesAnswers({ effects, inner }: EffectTree, question: Question): boolean {
  for (const effect of effects) if (!isHarmless(effect, question)) return false;
  for (const one of inner) if (!writesAnswers(one, question)) return false;
  return true;
}

const isHarmless = ({ kind, path }: Effect, question: Question): boolean =>
  kind === "reads" || (kind === "writes" && path?.type === "known" && isFree(locate(path.text, question), question));

/** What no task is needed for: answers, and what is gone with the run. */
function isFree(located: LocatedPath, { ground }: Question): boolean {
  const { real } = located;
  return isAnswer(located) || real === "/dev/null" || (real !== undefined && isTemporary(real, ground));
}

export const isAnswer = ({ inTree }: LocatedPath): boolean => inTree !== undefined && matchesAny(inTree, ANSWERS);

/** Whether it only looks at things, as far as its kind or its effects tell. */
export function onlyLooksAt(question: Question): boolean {
  const { kind, action } = question.request;
  if (kind === "other") return isListedRead(question.request, question.policy);
  if (kind === "govern") return action?.name === "status" || action?.name === "list";
  if (kind !== "shell") return onlyLooks(kind);
  question.looks ??= !mutates(question.effects());
  return question.looks;
}

/** A tool of an MCP server that the config lists as one that changes nothing. */
export const isListedRead = ({ tool }: ToolRequest, { mcp }: Policy): boolean => matchesAny(tool, mcp.reads);

/** Whether a shell command changes something, or may. */
export function mutates({ effects, inner }: EffectTree): boolean {
  for (const { kind } of effects) if (kind !== "reads" && kind !== "fetches") return true;
  for (const one of inner) if (mutates(one)) return true;
  return false;
}
