import type { TaskGraph } from "../../../../src/governance/graph/schema.ts";
import {
  type Asked,
  bash,
  closed,
  fakeFiles,
  graph,
  handedOver,
  node,
  policy,
  ROOT,
  STARTED,
  table,
  write,
} from "../fixtures.ts";

// Ways around the rules that an agent could try; what is allowed is what must not be refused with them.

const over = (status: "abandoned" | "completed"): TaskGraph => {
  const [plan] = STARTED.workPlans;
  return { ...STARTED, workPlans: plan ? [{ ...plan, status }] : [] };
};

const handing = ["task", { subagent_type: "executor", prompt: "x" }] as const;
const writer: Asked = {
  policy: policy({ role: { ...policy().role, name: "writer", paths: ["docs/**"] } }),
  graph: graph(node("two", { assignedTo: "writer" })),
};
const child: Asked = {
  graph: { ...STARTED, delegations: [handedOver({ to: "investigator", session: "child", parentSession: "own" })] },
};

table("active task", [
  ["a task that waits for nothing", write("a"), "active task", { graph: graph(node("two", { status: "blocked" })) }],
  ["a task that is not started", write("a"), "active task", { graph: graph(node("two", { status: "planned" })) }],
  ["a task that there is not", write("src/a.ts"), "active task", { graph: graph(node("one")) }],
  ["a shell for a task that there is not", bash("touch a"), "active task", { graph: graph() }],
  ["reading for a task that there is not", bash("ls"), "allowed", { graph: graph() }],
  ["a task of an abandoned plan", write("src/a.ts"), "active task", { graph: over("abandoned") }],
  ["a task of a completed plan", write("src/a.ts"), "active task", { graph: over("completed") }],
]);

table("task order", [
  ["a start of a task that there is not", ["govern_task", { action: "start", node: "gone" }], "task order"],
]);

table("allowed tools", [
  [
    "one that is listed as reading, while the door is closed",
    ["db_query", {}],
    "allowed",
    { policy: policy({ mcp: { reads: ["db_*"], writes: [] }, door: closed }) },
  ],
  [
    "one that is listed as writing, for a task that reads",
    ["db_put", {}],
    "allowed tools",
    { policy: policy({ mcp: { reads: [], writes: ["db_put"] }, tools: ["read"] }) },
  ],
  [
    "one that is listed as writing, for a task that writes",
    ["db_put", {}],
    "allowed",
    { policy: policy({ mcp: { reads: [], writes: ["db_put"] }, tools: ["write"] }) },
  ],
]);

table("protected paths", [
  ["with letters that are not seen", write(".g\u200cit/config"), "protected paths"],
  ["with letters of another width", write(".ｇit/config"), "protected paths"],
  ["with dots that are left out", write(".git./config"), "protected paths"],
  ["with a space that is left out", write(".git /config"), "protected paths"],
  ["by its short name", write("GIT~1/config"), "protected paths"],
  ["a name with dots in it", write("src/..../a"), "allowed"],
]);

table("path scope", [
  ["searching in secrets by a pattern", ["grep", { pattern: "", include: ".en*" }], "path scope"],
  ["listing secrets by a pattern", ["glob", { pattern: "**/.e?v" }], "path scope"],
  ["searching in sources by a pattern", ["grep", { pattern: "x", include: "*.{ts,tsx}" }], "allowed"],
  ["a page that is a file, in other letters", ["webfetch", { url: " FILE:///etc/shadow" }], "path scope"],
  ["a page that is a file of this machine", ["webfetch", { url: "file://localhost/etc/shadow" }], "path scope"],
  ["a page that is a file, in numbers", ["webfetch", { url: "file:///etc/%73hadow" }], "path scope"],
  ["tokens of the machine", ["webfetch", { url: "http://169.254.169.254/latest/meta-data/" }], "path scope"],
  ["tokens of the machine, in numbers", ["webfetch", { url: "http://2852039166/latest" }], "path scope"],
  ["tokens of the machine, by name", ["webfetch", { url: "http://Metadata.Google.internal/x" }], "path scope"],
  ["a server of the project", ["webfetch", { url: "http://localhost:3000/metadata" }], "allowed"],
]);

table("shell safety", [
  ["in a folder of the worktree", ["bash", { command: "npm test", workdir: "src" }], "allowed"],
  ["in a folder elsewhere", ["bash", { command: "npm test", workdir: "/home/person/other" }], "shell safety"],
  ["reading in a folder elsewhere", ["bash", { command: "ls", workdir: "/home/person/other" }], "allowed"],
  ["writing from a folder", ["bash", { command: "touch ../x", workdir: "src" }], "allowed"],
  ["writing from a folder, outside", ["bash", { command: "touch ../../x", workdir: "src" }], "shell safety"],
  [
    "in a folder behind a link",
    ["bash", { command: "npm test", workdir: "out" }],
    "shell safety",
    { files: fakeFiles({ [`${ROOT}/out`]: "/home/person/other" }) },
  ],
  [
    "in a folder that is two places",
    ["bash", { command: "npm test", workdir: "out/../src" }],
    "shell safety",
    { files: fakeFiles({ [`${ROOT}/out`]: "/home/person/other" }) },
  ],
  [
    "work behind a link",
    bash("cd out && git commit -am x"),
    "shell safety",
    { files: fakeFiles({ [`${ROOT}/out`]: "/home/person/other" }, [`${ROOT}/out`]) },
  ],
]);

table("delegation", [
  ["by a role of the config to an executor", handing, "delegation", writer],
  ["by a role of the config, down", ["task", { subagent_type: "investigator", prompt: "x" }], "allowed", writer],
  [
    "by a role of the config to one of the host",
    ["task", { subagent_type: "explore", prompt: "x" }],
    "allowed",
    writer,
  ],
]);

table("session ownership", [
  [
    "a foreign session besides one's own",
    ["Agent", { subagent_type: "investigator", prompt: "x", resume: "child", task_id: "ses_9" }],
    "arguments",
    { ...child, host: "claude" },
  ],
]);
