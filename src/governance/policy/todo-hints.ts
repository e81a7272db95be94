import { OWN_ROLES, TOOL_KINDS } from "../../config/governance-words.ts";
import { didYouMean } from "../../config/problems/nearest.ts";
import type { PlanDoc, Todo } from "../../plan/markdown/markdown.ts";
import { changesThings, type RoleSettings, roleNamed } from "./roles.ts";
import { namesOfNone } from "./tools/listed.ts";

const MAX_HINTS = 20;

/** A pattern that begins outside of the repository or in quotes, or has `..` for a name. */
const IS_OUTSIDE = /^(?:paths:|expects: files) (?:[/~!'"]|(?:.*\/)?\.\.(?:\/|$))/;
/** One that was `{a,b}` before it was taken apart. */
const isTorn = (setting: string): boolean => setting.split("{").length !== setting.split("}").length;
const fitsNone = (setting: string): boolean => IS_OUTSIDE.test(setting) || isTorn(setting);
/** Of paths there may be several; a name may have blanks. */
const IS_SEVERAL = /^expects: files (?:.*,|\S+\s.*[/*])/;

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
  const lost = named.filter(fitsNone);
  return [
    ...namesOfNone(tools).map((tool) => `"tools: ${tool}" names no tool${didYouMean(tool, TOOL_KINDS)}`),
    ...lost.map(
      (setting) => `"${setting}" fits no file: write a path below the repository, without .., quotes and braces`,
    ),
    ...named
      .filter((setting) => IS_SEVERAL.test(setting) && !fitsNone(setting))
      .map((setting) => `"${setting}" is read as one pattern: write one that fits any of them, such as "docs/**"`),
    ...(by === undefined ? [] : roleHints(by, expects, roles)),
  ].map((problem) => `TODO ${index + 1}: ${problem}`);
}

function roleHints(name: string, expects: string, roles: Roles): string[] {
  const role = roleNamed(name, roles);
  if (!role) {
    const meant = didYouMean(name, [...OWN_ROLES, ...Object.keys(roles)]);
    return [`"by: ${name}" blocks the plan when its turn comes: there is no such role${meant}`];
  }
  if (role.tools.includes("write") || role.tools.includes("edit")) {
    if (changesThings(role) || expects === "" || expects === "none") return [];
    return [
      `"expects: ${expects}" is never met: "by: ${name}" is a role that changes nothing, so leave one of the two out`,
    ];
  }
  return [`"by: ${name}" is a role that writes nothing, so it cannot say that it is done: write "by: executor"`];
}
