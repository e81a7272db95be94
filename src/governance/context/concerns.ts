import { findNode, nodesOf } from "../graph/lookup.ts";
import type { TaskGraph } from "../graph/schema.ts";
import type { Anchor } from "./anchors.ts";

/** A prompt may carry a whole plan: more of it is not looked at. */
const MAX_TEXT = 50_000;
const MAX_NAMED = 20;
const MAX_CONCERNS = 5;
const WORD = /[\w@~-][\w./@~-]*/g;

/**
 * What is known about the files and tasks that a prompt names: the tasks that changed such a file, or one in the same
 * folder, and what was anchored about it. Other prompts are left alone.
 */
export function concernsOf(text: string, graph: TaskGraph, anchors: readonly Anchor[]): readonly string[] {
  const named = new Set(
    [...(text.slice(0, MAX_TEXT).match(WORD) ?? [])].map((word) => word.replace(/(?<!\.)\.+$/, "")),
  );
  const names = [...named].filter((name) => isName(name, graph)).slice(0, MAX_NAMED);
  if (names.length === 0) return [];
  const found = names.flatMap((name) => [...anchorsAbout(name, anchors), ...tasksAbout(name, graph)]);
  return [...new Set(found)].slice(0, MAX_CONCERNS);
}

const isName = (word: string, graph: TaskGraph): boolean =>
  /\/|\.\w+$/.test(word) || findNode(graph, word) !== undefined;

const anchorsAbout = (name: string, anchors: readonly Anchor[]): string[] =>
  anchors.filter(({ entity }) => entity === name).map(({ content }) => `${name}: ${content}`);

function tasksAbout(name: string, graph: TaskGraph): string[] {
  const own = findNode(graph, name)?.node;
  if (own) return own.dependsOn.length === 0 ? [] : [`${name} comes after ${own.dependsOn.join(", ")}`];
  const folder = name.slice(0, name.lastIndexOf("/") + 1);
  return graph.workPlans
    .filter(({ purgedAt }) => purgedAt === undefined)
    .flatMap(nodesOf)
    .flatMap(({ id, name: title, status, artifacts }) => {
      const about = `${id} "${title}" [${status}]`;
      if (artifacts.includes(name)) return [`${name} was changed for ${about}`];
      const beside = folder === "" ? undefined : artifacts.find((file) => file.startsWith(folder));
      return beside === undefined ? [] : [`${beside}, beside ${name}, was changed for ${about}`];
    });
}
