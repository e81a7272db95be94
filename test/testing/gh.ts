import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Puts a program `gh` into a folder that knows one login: for `host`, with `token`. Answers nothing but `gh auth token`. */
export function installGh(folder: string, host: string, token: string): void {
  mkdirSync(folder, { recursive: true });
  const script = `#!/bin/sh
[ "$*" = "auth token --hostname ${host}" ] && echo "${token}" && exit 0
echo "no oauth token found for $4" >&2
exit 1
`;
  writeFileSync(join(folder, "gh"), script, { mode: 0o755 });
}
