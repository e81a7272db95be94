import type { Environment } from "../kernel/system/environment.ts";
import type { Governed } from "./port.ts";

/** Where a program keeps what it needs, as the user's environment says; paths are absolute. */
export interface UserPlace {
  readonly home: string;
  readonly env: Environment;
}

/** A file or folder of the user that a program needs in its private home. */
export interface HomeItem {
  /** Where it lies for the user, absolute (an environment variable may have moved it). */
  readonly from: string;
  /** Where the program looks for it in its private home, relative to that. */
  readonly to: string;
  /**
   * All are copies, made afresh before each run; of a `login`, what `renewedLogin` says is taken back afterwards. A `cache` is a folder
   * that the program takes code from: where the user has none it is empty, so that no run prepares it for another.
   */
  readonly kind: "config" | "login" | "cache";
}

export type Login = { readonly state: "yes" | "no" | "unknown"; readonly how: string };

/** What is known about an agent program before it is started: for `doctor`, `init`, the sandbox and error messages. */
export interface AgentProgram {
  /** As its makers write it: "Claude Code". */
  readonly title: string;
  /** What is started when the config names no `command`. */
  readonly command: string;
  readonly versionArgs: readonly string[];
  /** The oldest version that prloom was tried with. */
  readonly least: string;
  /** A line to type. */
  readonly install: string;
  readonly login: string;
  /** Variables with which a login needs no file, and settings of the provider; passed on to the agent when they are set. */
  readonly variables: readonly string[];
  /** Variables that say where its files lie; passed on where the run sees the user's own home. */
  readonly placeVariables?: readonly string[];
  /**
   * Folders and files of a repository from which it runs code whatever it is told; hidden in the sandbox unless the
   * config allows the repository's own settings.
   */
  readonly projectCode?: readonly string[];
  /**
   * Files with a repository's instructions, in the order in which it looks for them, the first of which counts. It reads
   * none by itself unless the config allows the repository's own settings. (But OpenCode does, below the root: those in
   * the folder of a file that it reads, and in the folders above that.)
   */
  readonly instructionFiles?: readonly string[];
  /**
   * What is kept of its private home from one run to the next: its conversations, and nothing from which it takes code, rules or
   * settings. Relative to the home; `*` stands for any one name.
   */
  readonly keeps: readonly string[];
  /**
   * Makes of that anew what a run can write settings into, besides; `scratch` is a folder of ours beside the home, where files become
   * whole. A run gets of it what it needs to go on with a conversation that was had in the folder `goesOnIn`; one that begins gets
   * nothing that could keep it from starting.
   */
  renewKept?(home: string, scratch: string, goesOnIn: string | undefined): Promise<void>;
  homeItems(where: UserPlace): readonly HomeItem[];
  /** Says whether there is a login, without reading more of it than has to be, and never what it is. */
  loginOf(where: UserPlace): Login;
  /**
   * Pure: what the user's file with a login is to be after a run in which the program renewed it, or undefined: as it was.
   * `after` was in the hands of an agent. Absent: nothing is ever taken back.
   */
  renewedLogin?(before: string, after: string): string | undefined;
  /** How a person goes on with a conversation by hand in the program's own interface; `[]`: the program cannot. */
  openArgs(options: { readonly sessionId?: string; readonly model?: string }): readonly string[];
  /** What comes to that while the plan is not approved, and nothing may be changed. Absent: the sandbox alone sees to it. */
  openClosed?(closed: OpenClosed): {
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  };
}

export interface OpenClosed {
  /** A sentence for the agent. */
  readonly reason: string;
  /** Tools of the program that can change something. */
  readonly tools: readonly string[];
  readonly projectSettings: boolean;
  /** What it is started with. */
  readonly env: Readonly<Record<string, string>>;
  readonly governed?: Governed;
}
