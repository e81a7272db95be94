import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ThreadEntry } from "../../src/bridges/local/thread.ts";
import type { BusEvent } from "../../src/bus/types.ts";
import { type CliResult, makeProject, type Project, type ProjectOptions } from "../testing/project.ts";

export const EXAMPLES = fileURLToPath(new URL("../../examples", import.meta.url));

type Entry = { module: string; config?: Record<string, unknown> };
type Snippet = Record<string, Record<string, Entry>>;

/** The config that an example's README tells people to paste. */
export function snippetOf(example: string): Snippet {
  const page = readFileSync(join(EXAMPLES, example, "README.md"), "utf8");
  const [, json] = /```json\n([\s\S]*?)```/.exec(page) ?? assert.fail(`${example}/README.md shows no config`);
  return JSON.parse(json ?? "");
}

/** A repository where examples are set up by the words of their READMEs. */
export interface Installed extends Project {
  thread(planId: string): Promise<ThreadEntry[]>;
  /** Types a command, which must succeed. */
  type(...args: string[]): Promise<CliResult>;
  /** `prloom start --until-idle`, which must succeed; what it printed. */
  untilIdle(env?: Record<string, string>): Promise<string>;
  /** Events of the global bus, or of a plan's. */
  events(planId?: string): Promise<BusEvent[]>;
  commit(message: string): void;
}

export interface InstallOptions extends ProjectOptions {
  /** Changes what a README says: config of plugins and bridges by their names. */
  readonly configs?: Readonly<Record<string, Record<string, unknown>>>;
}

export function install(examples: readonly string[], options: InstallOptions = {}): Installed {
  const project = makeProject(options);
  const merged: Snippet = {};
  for (const example of examples) {
    for (const [key, entries] of Object.entries(snippetOf(example))) {
      for (const [name, entry] of Object.entries(entries)) {
        copyCode(example, join(project.root, entry.module));
        const config = { ...entry.config, ...options.configs?.[name] };
        merged[key] = { ...merged[key], [name]: { ...entry, config } };
      }
    }
  }
  project.config(merged);
  const installed = withCommands(project);
  installed.commit("Set up plugins");
  return installed;
}

/** All code of an example, to the folder where its config expects it. */
function copyCode(example: string, module: string): void {
  mkdirSync(dirname(module), { recursive: true });
  for (const name of readdirSync(join(EXAMPLES, example)).filter((file) => file.endsWith(".ts"))) {
    cpSync(join(EXAMPLES, example, name), join(dirname(module), name));
  }
}

export function withCommands(project: Project): Installed {
  const type = async (...args: string[]): Promise<CliResult> => {
    const result = await project.cli(args);
    assert.equal(result.code, 0, `prloom ${args.join(" ")}\n${result.stdout}${result.stderr}`);
    return result;
  };
  return {
    ...project,
    type,
    async thread(planId) {
      return JSON.parse((await type("show", planId, "--json")).stdout).thread;
    },
    async untilIdle(env) {
      const { code, stdout, stderr } = await project.work(env);
      assert.equal(code, 0, `${stdout}${stderr}`);
      return `${stdout}${stderr}`;
    },
    async events(planId) {
      const { stdout } = await type("events", ...(planId === undefined ? [] : [planId]), "--json");
      return JSON.parse(stdout).map(({ data }: { data: BusEvent }) => data);
    },
    commit(message) {
      project.git("add", "-A");
      project.git("-c", "user.name=Ada", "-c", "user.email=ada@localhost", "commit", "-qm", message);
    },
  };
}

/**
 * A bridge of the test's own: `forum/<plan>.json` is an outside place where people can write to a plan. `authors` below
 * `write` are strangers.
 */
export function addForum(project: Project): { say(planId: string, post: ForumPost): void } {
  const folder = join(project.root, "forum");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(project.root, "prloom", "forum.mjs"), FORUM);
  project.config({ bridges: { forum: { module: "./prloom/forum.mjs" } } });
  return { say: (planId, post) => writeFileSync(join(folder, `${planId}.json`), JSON.stringify(post)) };
}

export interface ForumPost {
  readonly id: string;
  readonly login: string;
  readonly permission: "none" | "read" | "write";
  readonly body: string;
}

const FORUM = `import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export default {
  name: "forum",
  events(ctx, seen) {
    const file = join(ctx.repoRoot, "forum", ctx.planId + ".json");
    if (!existsSync(file)) return { events: [] };
    const { id, login, permission, body } = JSON.parse(readFileSync(file, "utf8"));
    if (seen === id) return { events: [] };
    const replyTo = { target: "local", token: ctx.planId };
    const context = { author: { login, permission } };
    return {
      events: [{ id, source: "forum", type: "comment", severity: "info", title: "Post", body, replyTo, context }],
      state: id,
    };
  },
};
`;
