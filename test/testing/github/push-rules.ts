import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Token } from "./tokens.ts";
import { reaches } from "./tokens.ts";
import type { Repository } from "./world.ts";

/** Before each push: git itself asks a hook of the repository, which says what GitHub would say. */
export function writePushRules({ folder, rules }: Repository, token: Token): void {
  const refused = [...rules].flatMap(([branch, { refusePush }]) =>
    refusePush === undefined ? [] : [`refs/heads/${branch}) echo ${quoted(refusePush)} >&2; exit 1;;`],
  );
  const mayChangeWorkflows =
    token.kind === "classic" ? token.scopes.includes("workflow") : reaches(token, "workflows", "write");
  const lines = [
    "#!/bin/sh",
    "while read -r old new ref; do",
    "  :",
    ...(refused.length > 0 ? ['  case "$ref" in', ...refused, "  esac"] : []),
    ...(mayChangeWorkflows ? [] : WORKFLOWS),
    "done",
  ];
  // Put in its place as a whole: git may be running it for another push.
  const hook = join(folder, "hooks", "pre-receive");
  writeFileSync(`${hook}.next`, `${lines.join("\n")}\n`, { mode: 0o755 });
  renameSync(`${hook}.next`, hook);
}

const WORKFLOWS = [
  '  case "$new" in 0000*) continue;; esac',
  '  case "$old" in 0000*) from=$(git rev-parse --verify --quiet HEAD || git hash-object -t tree /dev/null);; *) from=$old;; esac',
  '  if git diff --name-only "$from" "$new" | grep -q "^.github/workflows/"; then',
  '    echo "refusing to allow a Personal Access Token to create or update workflow without \\`workflow\\` scope" >&2; exit 1',
  "  fi",
];

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
