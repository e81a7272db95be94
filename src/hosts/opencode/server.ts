import { setImmediate } from "node:timers/promises";
import { messageOf } from "../../kernel/errors.ts";
import { asFields } from "../../kernel/json-fields.ts";
import { tellEnd } from "../end-run.ts";
import type { Governor } from "../governor.ts";
import { unjudged } from "../host-verdict.ts";
import { ProtectedFiles } from "../protected-files.ts";
import { callEnded } from "../record-end.ts";
import { GOVERNANCE_VARIABLES, governorOfRun, phaseOfStage } from "../run-governance.ts";
import { quietly, withTimeLimit } from "../time-limit.ts";
import { TouchedFiles } from "../touched-files.ts";
import { Children } from "./children.ts";
import { reopen, startsPrograms, withoutHelpers } from "./closing.ts";
import { governTools, nameOf } from "./govern-tools.ts";
import { addNote, addTurn, pruneOutputs, Summarised } from "./messages.ts";
import { notify, tellInForce, tellPrinted, tellRetry } from "./notices.ts";
import type { OpenCodeHooks, PluginInput, ToolOutput } from "./types.ts";

/** Longer than any judgement takes, and shorter than anyone waits. */
const HOOK_MS = 5000;

/** For what only observes: the program goes on whatever becomes of it, and never waits long. */
const briefly = (act: () => Promise<unknown>): Promise<void> => quietly(() => withTimeLimit(act(), HOOK_MS));

/** OpenCode's plugin of a dispatched run. Without it the configuration of the run denies all that changes something. */
export async function server(input: PluginInput): Promise<OpenCodeHooks> {
  const folder = process.env[GOVERNANCE_VARIABLES.folder];
  const facts = process.env[GOVERNANCE_VARIABLES.facts];
  if (folder === undefined || facts === undefined) return {};
  try {
    const phase = phaseOfStage(process.env.PRLOOM_STAGE);
    const governor = await withTimeLimit(governorOfRun("opencode", { folder, facts, phase }), HOOK_MS);
    return hooksOf(governor, facts, input);
  } catch (error) {
    const why = `prloom's rules for this run cannot be read: ${messageOf(error)}`;
    await briefly(() => tellEnd(facts, why));
    return refusing(why, input);
  }
}

/** An agent that can read can still say what is wrong. What changes something is denied, and told why. */
function refusing(why: string, { client }: PluginInput): OpenCodeHooks {
  return {
    config: async (config) => {
      reopen(config);
      withoutHelpers(config);
    },
    "chat.message": () => briefly(() => tellInForce(client)),
    "tool.execute.before": async ({ tool }, { args }) => {
      const verdict = unjudged("opencode", { tool, input: args }, why);
      if (!verdict.allow) throw new Error(verdict.text);
    },
  };
}

/** A command that was ended, for having run too long, has null for an exit code. */
function hasPassed({ metadata }: ToolOutput): boolean {
  const { exit = 0 } = asFields(metadata);
  return exit === 0;
}

function hooksOf(governor: Governor, facts: string, { client }: PluginInput): OpenCodeHooks {
  const children = new Children(governor, client);
  const touched = new TouchedFiles(governor.ownPolicy.root);
  const ended = new Map<string, boolean>();
  const kept = new ProtectedFiles(governor.ownPolicy);
  const summarised = new Summarised();
  const began = touched.begin();
  void quietly(() => kept.begin());
  return {
    // The judge is in place, and decides from here on.
    config: async (config) => {
      reopen(config);
      if (!startsPrograms(governor.ownPolicy)) withoutHelpers(config);
    },
    tool: governTools({ governor, client, ended }),
    event: async ({ event }) => {
      summarised.heard(event);
      tellRetry(client, event);
      await briefly(() => children.heard(event));
    },
    "chat.message": async ({ sessionID }) => {
      await briefly(() => tellInForce(client));
      await briefly(() => children.bind(sessionID));
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const call = { id: callID, session: sessionID, tool, input: args };
      // A session that nothing is known about could be one that has less than the run.
      const judged = Promise.all([children.bind(sessionID), kept.begin(), began]).then(() => governor.before(call));
      const verdict = await withTimeLimit(judged, HOOK_MS).catch((error) => unjudged("opencode", call, error));
      if (verdict.allow) return;
      notify(client, verdict.text, "warn");
      if (verdict.endsRun) {
        // The agent can delete what is written.
        await briefly(() => tellPrinted(client, verdict.text));
        await briefly(() => tellEnd(facts, verdict.text));
        await briefly(() => children.endAll(sessionID));
      }
      throw new Error(verdict.text);
    },
    "tool.execute.after": async ({ sessionID, callID }, output) => {
      const call = { id: callID, session: sessionID };
      const ok = ended.get(nameOf(call)) ?? hasPassed(output);
      ended.delete(nameOf(call));
      // Of a sub-agent, without what the program puts around it.
      const said = output.output?.split(/<\/?task_result>/, 2)[1]?.trim() ?? output.output;
      const tell = (note: string): void => {
        if (note === "") return;
        addNote(output, note);
        notify(client, note, "warn");
      };
      tell(governor.owedNote());
      if (!governor.mayTouch(call)) return briefly(() => governor.after(call, { ok, files: [], said }));
      const { note, record } = await callEnded({ governor, touched, kept }, call, ok);
      tell(note);
      // The call is over: what else is found out about it is not waited for, nor that git is started.
      void quietly(async () => {
        await setImmediate();
        await record();
      });
    },
    "experimental.chat.messages.transform": async (_, { messages }) =>
      quietly(() => {
        if (summarised.has(messages)) return;
        pruneOutputs(messages, governor);
        addTurn(messages, governor);
      }),
    "experimental.session.compacting": async ({ sessionID }, { context }) =>
      quietly(() => {
        summarised.begin(sessionID);
        context.push(governor.compaction(sessionID));
      }),
  };
}
