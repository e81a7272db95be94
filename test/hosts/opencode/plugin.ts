import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { server } from "../../../src/hosts/opencode/server.ts";
import type { OpenCodeClient, OpenCodeHooks } from "../../../src/hosts/opencode/types.ts";
import { type GovernedFiles, type GovernedTerms, governedFiles } from "../run.ts";

/** The plugin as OpenCode has it, with sessions that know their parents. */
export interface Plugin {
  readonly hooks: OpenCodeHooks;
  readonly files: GovernedFiles;
  readonly aborted: string[];
  /** What sessions of sub-agents are not even offered. */
  readonly withheld: Map<string, readonly string[]>;
  /** What the program's log and the person were told. */
  readonly noticed: string[];
  /** Judges a call and, where it is allowed, does `act` and tells the plugin that it ended; what the model is given. */
  call(tool: string, args: unknown, act?: () => void, session?: string): Promise<string>;
  facts(): readonly Readonly<Record<string, unknown>>[];
}

interface PluginParts {
  readonly terms?: GovernedTerms;
  readonly parents?: Readonly<Record<string, string>>;
  readonly facts?: readonly string[];
  /** The calls that started sessions, by these. */
  readonly started?: ReadonlyMap<string, string>;
  /** What the program waits for before it answers its plugins. */
  readonly answers?: Promise<unknown>;
}

let calls = 0;

export async function pluginFor(
  t: Pick<TestContext, "after">,
  { terms = {}, parents = {}, facts = [], started = new Map(), answers }: PluginParts = {},
): Promise<Plugin> {
  const files = governedFiles(terms);
  t.after(() => files.remove());
  for (const line of facts) appendFileSync(files.facts, `${line}\n`);
  process.env.PRLOOM_GOVERNANCE = files.folder;
  process.env.PRLOOM_FACTS = files.facts;
  const aborted: string[] = [];
  const withheld: Plugin["withheld"] = new Map();
  const noticed: string[] = [];
  const client: OpenCodeClient = {
    session: {
      async get({ path: { id } }) {
        if (answers) await answers;
        const parentID = parents[id];
        return { data: { id, ...(parentID === undefined ? {} : { parentID }) } };
      },
      async messages() {
        const parts = [...started].map(([sessionId, callID]) => ({
          ...{ type: "tool", callID },
          state: { status: "running", metadata: { sessionId } },
        }));
        return { data: [{ info: { role: "assistant", sessionID: "own" }, parts }] };
      },
      async abort({ path: { id } }) {
        aborted.push(id);
      },
      async update({ path: { id }, body }) {
        withheld.set(
          id,
          body.permission.map(({ permission }) => permission),
        );
      },
    },
    app: {
      async log({ body }) {
        if (answers) await answers;
        noticed.push(`log ${body.level} ${body.message}`);
      },
    },
    tui: { showToast: async ({ body }) => noticed.push(`toast ${body.variant} ${body.message}`) },
  };
  const hooks = await server({ client });
  const call: Plugin["call"] = async (tool, args, act, session = "own") => {
    calls += 1;
    const named = { tool, sessionID: session, callID: `call-${calls}` };
    try {
      await hooks["tool.execute.before"]?.(named, { args });
    } catch (error) {
      return String(error);
    }
    act?.();
    const output = { output: "ran", metadata: { exit: 0 } };
    await hooks["tool.execute.after"]?.(named, output);
    return output.output;
  };
  const read = () => {
    const lines = existsSync(files.facts) ? readFileSync(files.facts, "utf8").split("\n") : [];
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  };
  return { hooks, files, aborted, withheld, noticed, call, facts: read };
}
