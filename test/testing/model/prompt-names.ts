import type { PromptNames } from "./script.ts";

const PATTERNS: Readonly<Record<"planId" | "worktree" | "planFile" | "resultFile", RegExp>> = {
  planId: /\b(?:for|of) the plan `([^`]+)`/,
  worktree: /(?:git worktree|repository in) `([^`]+)`/,
  // What the plan itself quotes may look like a path too: ours lie in the folder that is not committed.
  planFile: /`(\/[^`\n]+\/prloom\/\.local\/[^`\n/]+\.md)`/,
  resultFile: /`(\/[^`\n]+\/prloom\/\.local\/[^`\n/]+\.json)`/,
};

const STAGE = "designer|worker|triage|reviewer";
const BEGINS = new RegExp(`You are (?:the )?(${STAGE})\\b`);
const GOES_ON = new RegExp(`You go on with your work as (${STAGE})\\b`);

/** What a prompt of prloom names, as far as it is one. */
export function promptNames(text: string): PromptNames {
  const resumed = GOES_ON.exec(text)?.[1];
  const found = Object.entries(PATTERNS).map(([name, pattern]) => [name, pattern.exec(text)?.[1]] as const);
  const named = Object.fromEntries(found.filter(([, value]) => value !== undefined));
  const stage = resumed ?? BEGINS.exec(text)?.[1];
  return {
    ...named,
    ...(stage === undefined ? {} : { stage }),
    ...todoIn(text),
    goesOn: resumed !== undefined,
    refused: text.includes("The last attempt was not accepted"),
  };
}

function todoIn(text: string): Pick<PromptNames, "todo" | "todoNumber"> {
  const number = /Your TODO (?:\(number|is still number) (\d+)/.exec(text)?.[1];
  const todo = /<<<TODO \S+\s+([\s\S]*?)\s+TODO \S+>>>/.exec(text)?.[1];
  return number === undefined ? {} : { todoNumber: Number(number), todo: todo ?? "" };
}
