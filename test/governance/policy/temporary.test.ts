import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, fakeFiles, graph, node, policy, ruleOf } from "./fixtures.ts";

const ROWS: readonly [root: string, temporary: string, path: string, executor: string, investigator: string][] = [
  ["/srv/r", "/tmp", "/tmp/note", "allowed", "allowed"],
  ["/srv/r", "/tmp", "src/a.ts", "allowed", "path scope"],
  ["/srv/r", "/tmp", "../other/a.ts", "path scope", "path scope"],
  // The worktree lies in the folder for temporary files.
  ["/tmp/try/r", "/tmp", "src/a.ts", "allowed", "path scope"],
  ["/tmp/try/r", "/tmp", "../other/a.ts", "path scope", "path scope"],
  ["/tmp/try/r", "/tmp", "/tmp/try", "path scope", "path scope"],
  ["/tmp/try/r", "/tmp", "/tmp/note", "allowed", "allowed"],
  ["/tmp/r", "/tmp", "src/a.ts", "allowed", "path scope"],
  ["/tmp/r", "/tmp", "/tmp/r2/a", "allowed", "allowed"],
  ["/tmp", "/tmp", "src/a.ts", "allowed", "path scope"],
  // And the other way round.
  ["/srv/r", "/srv/r/.tmp", ".tmp/note", "allowed", "allowed"],
];

for (const [root, temporary, path, executor, investigator] of ROWS)
  test(`${path} from ${root}, with ${temporary} for temporary files`, () => {
    for (const [role, expected] of [
      ["executor", executor],
      ["investigator", investigator],
    ] as const) {
      const asked = { policy: policy({ root, temporary }, role), host: "prloom", files: fakeFiles() } as const;
      const started = graph(node("two", { assignedTo: role }));
      assert.equal(ruleOf(ask("write", { path }, { ...asked, graph: started })), expected, role);
      const command = `echo x > ${path}`;
      const shell = ruleOf(ask("shell", { command }, { ...asked, graph: started }));
      assert.equal(shell, expected === "path scope" ? "shell safety" : expected, `${role}: ${command}`);
    }
  });
