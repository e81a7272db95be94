import { bestAnchors, stalenessHours } from "../context/anchors.ts";
import type { Brain } from "../graph/brain.ts";
import { answered, type Caller, common, nextCall, type Prepared, told } from "./answer.ts";
import type { GovernCall } from "./arguments.ts";

type AnchorArguments = Extract<GovernCall, { tool: "anchor" }>["args"];

const LIST = nextCall("anchor", { action: "list" });
const MAX_SHOWN = 30;

export function anchorTool(args: AnchorArguments, caller: Caller, brain: Brain): Prepared {
  const { now } = caller;
  if (args.action === "list") {
    const lines = bestAnchors(brain.anchors, { now })
      .slice(0, MAX_SHOWN)
      .map(({ anchor, isStale }) => {
        const age = `${Math.floor(stalenessHours(anchor, now))} h${isStale ? ", stale" : ""}`;
        return `${anchor.id} [${anchor.priority}/${anchor.entityType}, ${age}] ${anchor.content}`;
      });
    return answered(lines.join("\n") || "No anchors.");
  }
  const { content, priority, entityType, entity } = args;
  // The same words again renew the one that is there.
  const before = brain.anchors.find((one) => one.content === content && one.entity === entity);
  const fact = before
    ? ({ type: "anchor_renewed", ...common(caller), anchor: before.id } as const)
    : ({
        type: "anchored",
        ...common(caller),
        anchor: { id: `an-${caller.newId()}`, content, priority, entityType, entity, createdAt: now, modifiedAt: now },
      } as const);
  const done = before ? "The anchor was there, and counts as new." : "Anchored: it comes back in later turns.";
  return { kind: "fact", fact, answer: (outcome) => told(outcome, done, LIST) };
}
