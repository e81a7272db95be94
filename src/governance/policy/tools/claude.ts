import { TALKS, type ToolMap } from "./tool-map.ts";

const AGENT = {
  kind: "delegate",
  to: "subagent_type",
  resumes: ["resume", "task_id", "agent_id"],
  // The program would make a worktree in the person's repository, or send all of it to another machine.
  refuses: ["isolation"],
} as const;

/** Tools of Claude Code, with the names of their arguments. */
export const CLAUDE_TOOLS: ToolMap = {
  Read: { kind: "read", paths: ["file_path"] },
  NotebookRead: { kind: "read", paths: ["notebook_path"] },
  Glob: { kind: "search", mayName: ["path", "pattern"] },
  Grep: { kind: "search", mayName: ["path", "glob"] },
  LS: { kind: "search", mayName: ["path"] },
  LSP: { kind: "read", mayName: ["filePath", "file_path"] },
  Write: { kind: "write", paths: ["file_path"] },
  Edit: { kind: "edit", paths: ["file_path"] },
  MultiEdit: { kind: "edit", paths: ["file_path"], edits: ["file_path"] },
  NotebookEdit: { kind: "edit", paths: ["notebook_path"] },
  Bash: { kind: "shell", command: "command" },
  BashOutput: TALKS,
  TaskOutput: TALKS,
  KillShell: TALKS,
  KillBash: TALKS,
  TaskStop: TALKS,
  ListAgents: TALKS,
  ReportFindings: TALKS,
  CronList: TALKS,
  SendMessage: { kind: "delegate", resumes: ["to"] },
  Task: AGENT,
  Agent: AGENT,
  WebFetch: { kind: "web", url: "url" },
  WebSearch: { kind: "web" },
  TodoWrite: TALKS,
  TodoRead: TALKS,
  AskUserQuestion: TALKS,
  EnterPlanMode: TALKS,
  ExitPlanMode: TALKS,
  Skill: TALKS,
  SlashCommand: TALKS,
  ToolSearch: TALKS,
  StructuredOutput: TALKS,
  ListMcpResourcesTool: TALKS,
};
