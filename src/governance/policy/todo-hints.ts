import { OWN_ROLES, TOOL_KINDS } from "../../config/governance-words.ts";
import { didYouMean } from "../../config/problems/nearest.ts";
import type { PlanDoc, Todo } from "../../plan/markdown/markdown.ts";
import { type RoleSettings, roleNamed } from "./roles.ts";
import { namesOfNone } from "./tools/listed.ts";

const MAX_HINTS = 20;

/** A pattern that begins outside of the repository or in quotes, or has `..` for a name. */
const FITS_NONE = /^(?:paths:|expects: files) (?:[/~!'"]|(?:.*\/)?\.\.(?:\/|$))/;

type Roles = Readonly<Record<string, RoleSettings>>;

/** What of a plan was not understood, and what in the lines below TODOs has no effect or keeps them from being done. */
export function planProblems({ problems, todos }: PlanDoc, roles: Roles): readonly string[] {
  const open = todos.filter(({ state }) => state !== "done");
  return [...problems, ...open.flatMap((todo) => todoHints(todo, roles)).slice(0, MAX_HINTS)];
}

function todoHints({ index, settings }: Todo, roles: Roles): string[] {
  const { tools = [], paths = [], by, expects = "" } = settings;
  const named = [
    ...paths.map((path) => `paths: ${path}`),
    ...(expects.startsWith("files ") ? [`expects: ${expects}`] : []),
  ];
  const lost = named.filter((setting) => FITS_NONE.test(setting));
  return [
    ...namesOfNone(tools).map((tool) => `"tools: ${tool}" names no tool${didYouMean(tool, TOOL_KINDS)}`),
    ...lost.map((setting) => `"${setting}" fits no file: write a path below the repository, without .. and quotes`),
    ...(by === undefined ? [] : roleHints(by, roles)),
  ].map((problem) => `TODO ${index + 1}: ${problem}`);
}

function roleHints(name: string, roles: Roles): string[] {
  const role = roleNamed(name, roles);
  if (!role) {
    const meant = didYouMean(name, [...OWN_ROLES, ...Object.keys(roles)]);
    return [`"by: ${name}" blocks the plan when its turn comes: there is no such role${meant}`];
  }
  if (role.tools.includes("write") || role.tools.includes("edit")) return [];
  return [`"by: ${name}" is a role that writes nothing, so it cannot say that it is done: write "by: executor"`];
}
