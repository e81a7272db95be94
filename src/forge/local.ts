import * as z from "zod";
import { type Clock, isoTime } from "../kernel/clock.ts";
import { PrloomError } from "../kernel/errors.ts";
import { readTextIfExists, writeFileAtomic } from "../kernel/files.ts";
import { ownJsonIn } from "../kernel/json-fields.ts";
import type { ChangeRequestDraft, ChangeRequestState, LocalForge } from "./port.ts";

const fileSchema = z.strictObject({
  schemaVersion: z.literal(1),
  ref: z.string(),
  head: z.string(),
  base: z.string(),
  title: z.string(),
  body: z.string(),
  state: z.enum(["open", "merged", "closed"]),
  ready: z.boolean(),
  openedAt: z.string(),
  readyAt: z.string().optional(),
  closedAt: z.string().optional(),
});
type ChangeRequestFile = z.infer<typeof fileSchema>;

export interface LocalForgeOptions {
  readonly clock: Clock;
  fileOf(planId: string): string;
  /** Replaces a file; by itself and synced, unless told otherwise. */
  write?(path: string, data: string): void;
}

/** Change requests without a server: one file in the home of the plan, and never a push. */
export function localForge(options: LocalForgeOptions): LocalForge {
  const { fileOf, clock, write = writeFileAtomic } = options;
  const load = (planId: string): ChangeRequestFile | undefined => {
    const path = fileOf(planId);
    const text = readTextIfExists(path);
    if (text === undefined) return undefined;
    const parsed = fileSchema.safeParse(ownJsonIn(text));
    if (parsed.success) return parsed.data;
    throw new PrloomError(
      "state-unreadable",
      `The change request of ${planId} cannot be read: ${path}`,
      "Fix the file or move it away; prloom then opens the change request again from the branch.",
    );
  };
  const save = (planId: string, file: ChangeRequestFile): ChangeRequestState => {
    write(fileOf(planId), `${JSON.stringify(file, null, 2)}\n`);
    return stateOf(file);
  };
  const open = (draft: ChangeRequestDraft): ChangeRequestFile => ({
    schemaVersion: 1,
    ref: `local/${draft.planId}`,
    head: draft.head,
    base: draft.base,
    title: draft.title,
    body: draft.body,
    state: "open",
    ready: false,
    openedAt: isoTime(clock.now()),
  });
  return {
    name: "local",
    async find(planId, head) {
      const file = load(planId);
      return file?.head === head ? stateOf(file) : undefined;
    },
    async open(draft) {
      const file = load(draft.planId);
      if (file?.head === draft.head) return stateOf(file);
      return save(draft.planId, open(draft));
    },
    async markReady(planId, draft) {
      const file = load(planId) ?? open(draft);
      if (file.state !== "open" || (file.ready && file.body === draft.body)) return stateOf(file);
      return save(planId, {
        ...file,
        title: draft.title,
        body: draft.body,
        ready: true,
        readyAt: isoTime(clock.now()),
      });
    },
    async close(planId, state) {
      const file = load(planId);
      if (!file) return undefined;
      // What is in the base branch is there: a request to close that comes late does not undo it.
      if (file.state === state || file.state === "merged") return stateOf(file);
      return save(planId, { ...file, state, closedAt: isoTime(clock.now()) });
    },
  };
}

function stateOf(file: ChangeRequestFile): ChangeRequestState {
  return { ref: file.ref, state: file.state, ready: file.ready };
}
