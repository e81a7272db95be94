import type { JsonFields } from "../../kernel/json-fields.ts";
import type { AgentEvent } from "../port.ts";

interface ItemTool {
  name(item: JsonFields): string;
  input(item: JsonFields): unknown;
  output(item: JsonFields): string;
  /** The model goes on with what this brought, in another answer. */
  readonly answered: boolean;
}

const fixed = (name: string) => (): string => name;
const picked =
  (...keys: string[]) =>
  (item: JsonFields): unknown =>
    Object.fromEntries(keys.filter((key) => item[key] !== undefined).map((key) => [key, item[key]]));

const TOOLS: Readonly<Record<string, ItemTool>> = {
  command_execution: {
    name: fixed("command_execution"),
    input: picked("command"),
    output: (item) => textOf(item.aggregated_output),
    answered: true,
  },
  file_change: { name: fixed("file_change"), input: picked("changes"), output: fixed(""), answered: true },
  mcp_tool_call: {
    name: (item) => `${textOf(item.server)}.${textOf(item.tool)}`,
    input: (item) => item.arguments ?? {},
    output: (item) => textOf(item.error ?? item.result),
    answered: true,
  },
  collab_tool_call: {
    name: (item) => textOf(item.tool) || "collab_tool_call",
    input: picked("prompt", "receiver_thread_ids"),
    output: (item) => textOf(item.agents_states),
    answered: true,
  },
  // Done by the provider in the middle of an answer.
  web_search: { name: fixed("web_search"), input: picked("query"), output: fixed(""), answered: false },
  todo_list: { name: fixed("todo_list"), input: picked("items"), output: fixed(""), answered: false },
};

/** Known, and nothing that prloom waits for. */
const SILENT = new Set(["reasoning"]);

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

export interface ItemReader {
  /** What `item.started`, `item.updated` or `item.completed` means; undefined for an item of a kind that is not known. */
  read(item: JsonFields, completed: boolean): readonly AgentEvent[] | undefined;
  /** A new request to the model begins the next answer. */
  turnStarted(): void;
  /** The newest error item of a turn in which the model has not answered at all. */
  unanswered(): string | undefined;
}

/** Makes events of the items of one run; counts answers, which Codex does not tell, by what stands between tool results. */
export function itemReader(): ItemReader {
  const open = new Set<string>();
  let answerDue = true;
  let warning: string | undefined;
  let answered = false;
  const turn = (): AgentEvent[] => {
    answered = true;
    if (!answerDue) return [];
    answerDue = false;
    return [{ type: "turn" }];
  };
  function tool(kind: ItemTool, item: JsonFields, completed: boolean): AgentEvent[] {
    const id = textOf(item.id);
    const events = turn();
    if (!open.has(id)) events.push({ type: "tool_call", id, name: kind.name(item), input: kind.input(item) });
    open.add(id);
    if (!completed) return events;
    open.delete(id);
    events.push({ type: "tool_result", id, output: kind.output(item), failed: hasFailed(item) });
    if (kind.answered && open.size === 0) answerDue = true;
    return events;
  }
  return {
    turnStarted() {
      answerDue = true;
      warning = undefined;
      answered = false;
    },
    unanswered: () => (answered ? undefined : warning),
    read(item, completed) {
      const type = textOf(item.type);
      if (type === "agent_message") return completed ? [...turn(), { type: "text", text: textOf(item.text) }] : [];
      // An item of this kind is a warning; what ends a turn comes in a line of its own.
      if (type === "error") {
        warning = textOf(item.message);
        return completed ? [{ type: "text", text: warning }] : [];
      }
      if (SILENT.has(type)) return turn();
      const kind = Object.hasOwn(TOOLS, type) ? TOOLS[type] : undefined;
      return kind && tool(kind, item, completed);
    },
  };
}

function hasFailed(item: JsonFields): boolean {
  return item.status === "failed" || item.status === "declined" || (item.error ?? undefined) !== undefined;
}
