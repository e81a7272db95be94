import type { Environment } from "../../kernel/system/environment.ts";
import { shellWord } from "../../kernel/text/words.ts";

export interface ShownCommand {
  readonly command: readonly string[];
  readonly cwd: string;
  /** The whole environment that the command is to have. */
  readonly env: Readonly<Record<string, string>>;
  /** The environment in which it will be typed. */
  readonly callerEnv: Environment;
}

/** Pure: a command as one line for a shell. What the caller's environment has is named, not shown: it may be a secret. */
export function commandLine({ command, cwd, env, callerEnv }: ShownCommand): string {
  const names = Object.keys(env).sort();
  const variables = names.map((name) =>
    callerEnv[name] === env[name] ? `${name}="$${name}"` : `${name}=${shellWord(env[name] ?? "")}`,
  );
  return `cd ${shellWord(cwd)} && env -i ${[...variables, ...command.map(shellWord)].join(" ")}`;
}
