import type { Behaviour } from "../call.ts";
import { worksHere } from "../paths.ts";
import { noteEffect } from "../state/state.ts";
import { OUTPUT } from "../values/flow.ts";
import { known, textOf } from "../values/text.ts";

const SAYS = /^(?:--version|-v|-V|--help|-h|version|help)$/;

/** Programs that are agents themselves: nothing would govern them. */
export const AGENTS =
  "claude opencode codex gemini aider amp goose cursor-agent cursor kiro-cli kiro droid hermes pi crush qwen copilot openclaw auggie plandex cline devin antigravity continue cn llm interpreter gptme sweep openhands claude-code opencode-ai gemini-cli aider-chat sgpt aichat tgpt mods kilocode codebuff junie kimi iflow trae-cli grok grok-cli qwen-code".split(
    " ",
  );

/** Another program of that name brings databases up to date. */
const GOOSE_MIGRATES =
  /^(?:up|up-by-one|up-to|down|down-to|redo|status|version|create|fix|validate|postgres|mysql|sqlite3|-dir|-table)$/;

export const agent: Behaviour = ({ name, args, spot }) => {
  if (name === "goose" && GOOSE_MIGRATES.test(textOf(args[0] ?? known("")))) {
    worksHere(spot, "changes a database with goose");
    return OUTPUT;
  }
  if (args.length === 1 && SAYS.test(textOf(args[0] ?? known("")))) return OUTPUT;
  noteEffect(spot, {
    kind: "agent",
    what: `starts or configures another agent: ${name}`,
    instead: "Do it yourself, or use the task tool.",
  });
  return OUTPUT;
};

/** Commands of prloom that only tell something. */
const PRLOOM_READS = /^(?:status|show|logs|events|tasks|anchors|rules|explain|doctor|gates|--version|--help|-h|help)$/;

/** What governs an agent is not for the agent to change. */
export const prloom: Behaviour = ({ args, spot }) => {
  const [first] = args;
  if (!first || PRLOOM_READS.test(textOf(first))) return OUTPUT;
  noteEffect(spot, {
    kind: "ours",
    what: `decides for the person: prloom ${textOf(first)}`,
    instead: "Ask the person, in the plan or in your answer.",
  });
  return OUTPUT;
};
