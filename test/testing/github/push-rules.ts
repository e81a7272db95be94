import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { git } from "./git.ts";
import type { Token } from "./tokens.ts";
import { reaches } from "./tokens.ts";
import type { Repository } from "./world.ts";

/** Before each push: git itself asks a hook of the repository, which says what GitHub would say. */
export function writePushRules({ folder, issues, rules }: Repository, token: Token): void {
  const refused = [...rules].flatMap(([branch, { refusePush }]) =>
    refusePush === undefined ? [] : [`refs/heads/${branch}) echo ${quoted(refusePush)} >&2; exit 1;;`],
  );
  const queued = [...issues.values()].flatMap(({ pull }) =>
    pull?.queued ? [`refs/heads/${pull.head.branch}) echo ${quoted(QUEUED)} >&2; exit 1;;`] : [],
  );
  const mayChangeWorkflows =
    token.kind === "classic" ? token.scopes.includes("workflow") : reaches(token, "workflows", "write");
  const lines = [
    "#!/bin/sh",
    "while read -r old new ref; do",
    "  :",
    ...(refused.length > 0 ? ['  case "$ref" in', ...refused, "  esac"] : []),
    // It can be deleted.
    '  case "$new" in 0000*) continue;; esac',
    ...(queued.length > 0 ? ['  case "$ref" in', ...queued, "  esac"] : []),
    ...(mayChangeWorkflows ? [] : WORKFLOWS),
    "done",
  ];
  writeHook(folder, "pre-receive", lines);
  writeTrouble(folder, rules);
}

/** Put in its place as a whole: git may be running it for another push. */
function writeHook(folder: string, name: string, lines: readonly string[]): void {
  const hook = join(folder, "hooks", name);
  writeFileSync(`${hook}.next`, `${lines.join("\n")}\n`, { mode: 0o755 });
  renameSync(`${hook}.next`, hook);
}

/** GitHub has its own program where git writes a branch down, and what that says stands behind the branch in git's answer. */
function writeTrouble(folder: string, rules: Repository["rules"]): void {
  const failing = [...rules].flatMap(([branch, { failPush: said }]) =>
    said === undefined ? [] : [{ ref: `refs/heads/${branch}`, said }],
  );
  // Only where a test asks for it: two pushes at a time must not both write the settings.
  if (failing.length === 0 && !existsSync(join(folder, "hooks", "proc-receive"))) return;
  git(folder, ["config", "--replace-all", "receive.procReceiveRefs", failing[0]?.ref ?? "refs/none"]);
  const packet = (text: string): string => (text.length + 5).toString(16).padStart(4, "0") + text;
  const lines = failing.map(({ ref, said }) => `${packet(`ng ${ref} ${said}`)}\\n`);
  const told = `printf '${packet("version=1")}\\n0000${lines.join("")}0000'`;
  writeHook(folder, "proc-receive", ["#!/bin/sh", told, "cat > /dev/null"]);
}

const QUEUED =
  "error: A pull request for this branch has been added to a merge queue. Branches that\nare queued for merging cannot be updated. To modify this branch, dequeue the\nassociated pull request.";

const WORKFLOWS = [
  '  case "$old" in 0000*) from=$(git rev-parse --verify --quiet HEAD || git hash-object -t tree /dev/null);; *) from=$old;; esac',
  '  if git diff --name-only "$from" "$new" | grep -q "^.github/workflows/"; then',
  '    echo "refusing to allow a Personal Access Token to create or update workflow without \\`workflow\\` scope" >&2; exit 1',
  "  fi",
];

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
