import type * as z from "zod";
import { PERMISSIONS } from "./author.ts";
import { type BusEvent, busEventSchema, MAX_ID, replyAddressSchema } from "./types.ts";

/**
 * What `busEventSchema` says about a value. Thousands may come at once, and nearly all are plainly right: those are told by
 * hand, in a fraction of the time. Anything else is for the schema to judge, so this may be stricter and never laxer; a
 * test compares the two.
 */
export function checkEvent(value: unknown): z.ZodSafeParseResult<BusEvent> {
  const data = plainEvent(value);
  return data ? { success: true, data } : busEventSchema.safeParse(value);
}

type Fields = Record<string, unknown>;

const EVENT_KEYS = new Set(Object.keys(busEventSchema.shape));
const ADDRESS_KEYS = new Set(Object.keys(replyAddressSchema.shape));
const SEVERITIES = new Set<unknown>(busEventSchema.shape.severity.options);
const ALL_PERMISSIONS = new Set<unknown>(PERMISSIONS);

function plainEvent(value: unknown): BusEvent | undefined {
  const event = copyOf(value);
  if (!event || !hasOnly(event, EVENT_KEYS) || !SEVERITIES.has(event.severity)) return undefined;
  const { id, source, type, title, body } = event;
  if (!isName(id) || id.length > MAX_ID || id === "__proto__" || !isName(source) || !isName(type)) return undefined;
  if (typeof title !== "string" || typeof body !== "string") return undefined;
  if (event.replyTo !== undefined) {
    const address = copyOf(event.replyTo);
    if (!address || !hasOnly(address, ADDRESS_KEYS) || !isName(address.target)) return undefined;
    if (address.token !== undefined && typeof address.token !== "string") return undefined;
    event.replyTo = address;
  }
  if (event.context !== undefined && !copyContext(event)) return undefined;
  return event as Fields & BusEvent;
}

function copyContext(event: Fields): boolean {
  const context = copyOf(event.context);
  if (!context) return false;
  event.context = context;
  if (context.author === undefined) return true;
  const author = copyOf(context.author);
  context.author = author;
  return (
    author !== undefined &&
    typeof author.login === "string" &&
    ALL_PERMISSIONS.has(author.permission) &&
    isFlag(author.bot) &&
    isFlag(author.self)
  );
}

/** What is checked is what is kept: a getter of a plugin or bridge is not asked twice. Only plain objects are plainly right. */
function copyOf(value: unknown): Fields | undefined {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return undefined;
  return Object.hasOwn(value, "__proto__") ? undefined : { ...value };
}

function hasOnly(fields: Fields, keys: ReadonlySet<string>): boolean {
  for (const key in fields) if (!keys.has(key)) return false;
  return true;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isFlag(value: unknown): boolean {
  return value === undefined || typeof value === "boolean";
}
