import { dirname } from "node:path/posix";
import * as z from "zod";
import { jsonIn } from "../../kernel/json-fields.ts";
import { idSchema, nameSchema, type TaskNode, timeSchema } from "../graph/schema.ts";

const PRIORITIES = ["critical", "high", "medium", "low"] as const;
const ENTITY_TYPES = ["task", "decision", "context", "file", "agent", "phase"] as const;

/** Something that is to be known again later, after the context was cleaned too. */
export const anchorSchema = z
  .strictObject({
    id: idSchema,
    content: nameSchema,
    priority: z.enum(PRIORITIES),
    entityType: z.enum(ENTITY_TYPES),
    /** The node, file or agent that it is about. */
    entity: nameSchema.optional(),
    /** Of a file: what it was when the anchor was made or renewed. */
    hash: z.string().max(100).optional(),
    createdAt: timeSchema,
    modifiedAt: timeSchema,
    validatedAt: timeSchema.optional(),
  })
  .readonly();

export type Anchor = z.infer<typeof anchorSchema>;

/** The anchors that earlier runs left; none of a text that is not a list of them. They help, and nothing depends on them. */
export function parseAnchors(text: string): readonly Anchor[] {
  const parsed = z.array(z.unknown()).safeParse(jsonIn(text));
  return (parsed.data ?? []).flatMap((one) => anchorSchema.safeParse(one).data ?? []);
}

export const HOUR_MS = 3_600_000;
/** Older ones are stale: exactly this old is still fresh. */
export const STALE_HOURS = 48;
const POINTS: Readonly<Record<Anchor["priority"], number>> = { critical: 100, high: 75, medium: 50, low: 25 };

/** Hours since it was last made, changed or looked at. */
export const stalenessHours = ({ validatedAt, modifiedAt }: Anchor, now: number): number =>
  Math.max(0, now - (validatedAt ?? modifiedAt)) / HOUR_MS;

export const isStale = (anchor: Anchor, now: number): boolean => stalenessHours(anchor, now) > STALE_HOURS;

/** By priority, freshness, and how far it is from what is in hand. */
export function scoreOf(anchor: Anchor, depth: number, now: number): number {
  return POINTS[anchor.priority] + Math.max(0, STALE_HOURS - stalenessHours(anchor, now)) - 10 * depth;
}

/** 0 for what is about the task in hand, its files, or nothing of that kind; 1 for its neighbours; 2 for what is further away. */
function depthOf({ entity, entityType }: Anchor, inHand: TaskNode | undefined): number {
  if (!inHand || entity === undefined || (entityType !== "task" && entityType !== "file")) return 0;
  const { id, artifacts, dependsOn, parent } = inHand;
  if (entity === id || artifacts.includes(entity)) return 0;
  const isBeside = entityType === "file" && artifacts.some((file) => dirname(file) === dirname(entity));
  return isBeside || entity === parent || dependsOn.includes(entity) ? 1 : 2;
}

export interface ShownAnchor {
  readonly anchor: Anchor;
  readonly isStale: boolean;
}

interface BestOptions {
  readonly now: number;
  /** What is in hand, if something is: what is about other tasks and files comes later then. */
  readonly inHand?: TaskNode | undefined;
}

/** The best first. Stale ones are left out, but for critical ones, which are marked. */
export function bestAnchors(anchors: readonly Anchor[], { now, inHand }: BestOptions): readonly ShownAnchor[] {
  return anchors
    .map((anchor) => ({ anchor, isStale: isStale(anchor, now), score: scoreOf(anchor, depthOf(anchor, inHand), now) }))
    .filter((one) => !one.isStale || one.anchor.priority === "critical")
    .sort((one, other) => other.score - one.score || one.anchor.createdAt - other.anchor.createdAt)
    .map(({ anchor, isStale: stale }) => ({ anchor, isStale: stale }));
}
