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

/** The worktree lies there, and the dispatcher listens there. */
const SHARED = {
  ...fakeFiles(),
  entries: () => ({ links: [], folders: ["try", "prloom-1000", "shop-7"], others: [] }),
};
for (const [command, expected] of [
  ["rm -rf /tmp/prloom-*", "shell safety"],
  ["cd /tmp && rm -rf pr*/", "shell safety"],
  ["rm -f /tmp/prloom-*/*.sock", "shell safety"],
  ["find /tmp -name 'prloom*' -exec rm -rf {} +", "shell safety"],
  ["find /tmp -name '*.sock' -delete", "shell safety"],
  ['for d in /tmp/p*; do rm -rf "$d"; done', "shell safety"],
  ["ls -d /tmp/prloom* | xargs rm -rf", "shell safety"],
  ["mv /tmp/*-1000 /tmp/x", "shell safety"],
  ["chmod 0 /tmp/tr*", "shell safety"],
  ["rm -rf /tmp/shop-* /tmp/prloom-test*", "allowed"],
  ["rm -f /tmp/*/*.log; find /tmp -name '*.log' -delete", "allowed"],
  ["cp src/*.ts /tmp/shop-7/", "allowed"],
] as const)
  test(`what a pattern means among temporary files: ${command} is ${expected}`, () => {
    const asked = policy({ root: "/tmp/try/r", temporary: "/tmp" });
    assert.equal(ruleOf(ask("shell", { command }, { policy: asked, host: "prloom", files: SHARED })), expected);
  });
