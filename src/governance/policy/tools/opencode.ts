import { TALKS, type ToolMap } from "./tool-map.ts";

/** Tools of OpenCode, with the names of their arguments. */
export const OPENCODE_TOOLS: ToolMap = {
  read: { kind: "read", paths: ["filePath"] },
  glob: { kind: "search", mayName: ["path", "pattern"] },
  grep: { kind: "search", mayName: ["path", "include"] },
  list: { kind: "search", mayName: ["path"] },
  ls: { kind: "search", mayName: ["path"] },
  codesearch: { kind: "web" },
  lsp: { kind: "read", mayName: ["filePath"] },
  write: { kind: "write", paths: ["filePath"] },
  edit: { kind: "edit", paths: ["filePath"] },
  multiedit: { kind: "edit", paths: ["filePath"], edits: ["filePath"] },
  patch: { kind: "edit", patch: "patchText" },
  apply_patch: { kind: "edit", patch: "patchText" },
  bash: { kind: "shell", command: "command", folder: "workdir" },
  task: { kind: "delegate", mentions: "prompt", to: "subagent_type", resumes: ["task_id", "session_id"] },
  webfetch: { kind: "web", url: "url" },
  websearch: { kind: "web" },
  todowrite: TALKS,
  todoread: TALKS,
  question: TALKS,
  skill: TALKS,
  invalid: TALKS,
};
