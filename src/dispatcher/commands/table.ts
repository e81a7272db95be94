import * as z from "zod";
import { MERGE_METHODS } from "../../git/merge-method.ts";
import { refuseBrought } from "../../git/tracked.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { takePlan, takeWholeInbox } from "../intake/intake.ts";
import type { Loom } from "../loom.ts";
import { inboxOf, isInboxRecord } from "../paths.ts";
import { listTried } from "../perform/ignored-comments.ts";
import { lookAtTree } from "../settings/pinned.ts";
import { dropDead, pollNow, retryDead } from "./bus.ts";
import { cleanPlans, deletePlan } from "./ending/finish.ts";
import { mergePlan } from "./ending/merge-plan.ts";
import { rebasePlan } from "./ending/rebase-plan.ts";
import { answerPlan, endWithdrawn, requirePosts } from "./gates.ts";
import { importIssues } from "./import-issues.ts";
import { closePlan, openPlan, refuseWhileOpen } from "./open.ts";
import { reloadPinned } from "./reload.ts";
import { blockByPerson, pausePlan, queuePlan, resumePlan, setHidden, unblockPlan } from "./state.ts";
import { commentOn, editPlan, sendTo } from "./talk.ts";

interface OwnerCommand {
  run(loom: Loom, args: unknown): Promise<unknown> | unknown;
}

function command<T extends z.ZodType>(
  schema: T,
  run: (loom: Loom, args: z.infer<T>) => Promise<unknown> | unknown,
): OwnerCommand {
  return { run: (loom, args) => run(loom, schema.parse(args)) };
}

const plan = z.object({ plan: z.string() });
const who = z.object({ pid: z.int(), startTicks: z.number(), bootId: z.string() });
const letters = z.object({ id: z.string().optional(), all: z.boolean().default(false) });

/** Everything that changes a plan and so needs the owner; the CLI calls these through the daemon or alone. */
const OWNER_COMMANDS = {
  queue: command(plan, (loom, args) => queuePlan(loom, args.plan)),
  hide: command(plan, (loom, args) => setHidden(loom, args.plan, true)),
  unhide: command(plan, (loom, args) => setHidden(loom, args.plan, false)),
  pause: command(plan.extend({ now: z.boolean().default(false) }), (loom, args) =>
    pausePlan(loom, args.plan, args.now),
  ),
  resume: command(plan, (loom, args) => resumePlan(loom, args.plan)),
  block: command(plan.extend({ reason: z.string() }), (loom, args) => blockByPerson(loom, args.plan, args.reason)),
  unblock: command(plan.extend({ reset: z.boolean().default(false) }), (loom, args) => {
    if (args.reset) refuseWhileOpen(loom, args.plan);
    return unblockPlan(loom, args.plan, args.reset);
  }),
  delete: command(plan.extend({ branch: z.boolean().default(false) }), (loom, args) => {
    refuseWhileOpen(loom, args.plan);
    return deletePlan(loom, args.plan, args);
  }),
  clean: command(
    z.object({ plan: z.string().optional(), branches: z.boolean().default(false) }),
    (loom, { plan: id, branches }) => cleanPlans(loom, id, branches),
  ),
  merge: command(
    plan.extend({
      force: z.boolean().default(false),
      method: z.enum(MERGE_METHODS).optional(),
      deleteBranch: z.boolean().default(false),
      sha: z.string().optional(),
    }),
    (loom, args) => mergePlan(loom, args.plan, args),
  ),
  rebase: command(plan, (loom, args) => rebasePlan(loom, args.plan)),
  reload: command(z.object({ digest: z.string().optional() }), (loom, args) => reloadPinned(loom, args.digest)),
  import: command(
    z.object({
      wanted: z.array(z.string().max(1000)).min(1).max(100),
      queue: z.boolean().default(false),
      dryRun: z.boolean().default(false),
      claim: z.boolean().default(false),
    }),
    (loom, args) => importIssues(loom, args),
  ),
  poll: command(z.object({ bridge: z.string().optional() }), (loom, args) => pollNow(loom, args.bridge)),
  retry: command(letters, (loom, args) => retryDead(loom, args)),
  drop: command(letters, (loom, args) => dropDead(loom, args)),
  comment: command(
    plan.extend({ body: z.string(), author: z.string(), todo: z.int().optional() }),
    (loom, { plan: id, body, author, todo }) =>
      commentOn(loom, id, { body, author, ...(todo === undefined ? {} : { todo }) }),
  ),
  send: command(plan.extend({ text: z.string(), author: z.string() }), (loom, { plan: id, text, author }) =>
    sendTo(loom, id, { text, author }),
  ),
  answer: command(
    plan.extend({
      decision: z.enum(["approve", "reject", "revise", "withdraw"]),
      gateId: z.string().optional(),
      words: z.string(),
      author: z.string(),
      by: z.string(),
    }),
    async (loom, { plan: id, ...answer }) => {
      if (answer.decision !== "withdraw") await requirePosts(loom, id);
      // What cannot be called off any more is waited for: then it is merged, or it is not.
      else await loom.occupancy.isOver(id, "landing");
      const answered = answerPlan(loom, id, answer);
      return answered.state === "withdrawn" ? { ...answered, ...(await endWithdrawn(loom, id)) } : answered;
    },
  ),
  tried: command(
    plan.extend({ run: z.string().max(200), command: z.string().max(200) }),
    (loom, { plan: id, ...tried }) => listTried(loom, id, tried),
  ),
  open: command(
    plan.extend({
      who: who.exactOptional(),
      now: z.boolean().default(false),
      agent: z.string().exactOptional(),
      shell: z.boolean().default(false),
    }),
    (loom, { plan: id, ...request }) => openPlan(loom, id, request),
  ),
  close: command(plan.extend({ who }), (loom, args) => closePlan(loom, args.plan, args.who)),
  edit: command(
    plan.extend({ text: z.string(), basedOn: z.string().optional() }),
    (loom, { plan: id, text, basedOn }) => editPlan(loom, id, { text, ...(basedOn === undefined ? {} : { basedOn }) }),
  ),
} as const;

export type OwnerCommandName = keyof typeof OWNER_COMMANDS;

/** Commands that only write down what a person wants: a config that is broken or missing does not keep them from it. */
const WITHOUT_CONFIG: readonly OwnerCommandName[] = [
  "queue",
  "hide",
  "unhide",
  "pause",
  "resume",
  "block",
  "comment",
  "send",
  "edit",
  "close",
  "retry",
  "drop",
];

/** Commands that write or remove the files of a plan that lies in the inbox. */
const IN_INBOX: readonly string[] = ["queue", "hide", "unhide", "unblock", "delete", "edit"];

export function worksWithout(name: OwnerCommandName): boolean {
  return WITHOUT_CONFIG.includes(name);
}

/** Runs one command as the owner of the repository and wakes the plan that it concerns. */
export async function runOwnerCommand(loom: Loom, name: string, args: Record<string, unknown>): Promise<unknown> {
  if (!Object.hasOwn(OWNER_COMMANDS, name)) {
    throw new PrloomError("usage", `There is no command "${name}".`, "`prloom --help` lists them.");
  }
  lookAtTree(loom);
  // A dispatcher watches the inbox; a command that works alone sees it for the first time.
  if (!loom.isDispatching) takeWholeInbox(loom, loom.inbox.scan());
  // What keeps this very plan from being taken concerns the person who asks for it.
  if (typeof args.plan === "string") {
    takePlan(loom, loom.inbox.look(args.plan), args.plan);
    const record = loom.store.byId(args.plan);
    if (record && (isInboxRecord(record) || record.inInbox) && IN_INBOX.includes(name))
      await refuseBrought(loom.repo, inboxOf(loom.paths, args.plan).text);
  }
  const result = await OWNER_COMMANDS[name as OwnerCommandName].run(loom, args);
  if (typeof args.plan === "string") loom.wake(args.plan);
  // Others may depend on what was merged or taken away.
  if (name === "delete" || name === "merge") loom.wake();
  return result;
}
