import type { PlanRecord } from "../../plan/record.ts";

type Fits = (record: PlanRecord | undefined) => boolean;

const isOpen: Fits = (record) => record?.status !== "done";

/** What the plans of a command must be like; those that are not here take any. */
const FITTING: ReadonlyMap<string, Fits> = new Map<string, Fits>([
  ["merge", (record) => record?.status === "review"],
  ["queue", (record) => record === undefined || record.status === "draft"],
  ["clean", (record) => record?.status === "done"],
  // Also for one that only waits for its agent.
  ["unblock", (record) => (record?.blocked ?? record?.current ?? record?.side) !== undefined],
  ...["approve", "revise", "reject", "rebase", "edit", "send", "open", "pause", "resume", "block", "hide"].map(
    (name): [string, Fits] => [name, isOpen],
  ),
]);

/** Whether a command can do something with a plan; undefined: a file in the inbox that no dispatcher has seen. */
export function fitsCommand(command: string, record: PlanRecord | undefined): boolean {
  return FITTING.get(command)?.(record) ?? true;
}
