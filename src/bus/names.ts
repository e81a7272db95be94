/**
 * The names in settlements: who settled (`onEvent:<plugin>`, `poll:<bridge>`, `triage` …), and whose values it changed
 * (`plan:<plugin>` …). They are in journals, so they stay as they are. Only this file puts them together and takes them apart.
 */

import { sha256 } from "../kernel/ids.ts";
import type { Scope } from "./scope.ts";

export const DISPATCHER = "dispatcher";
export const TRIAGE = "triage";
export const TRIGGERS = "triggers";
export const REVIEW = "review";
export const GATE = "gate";
export const PASS_OVER = "pass-over";
/** The bridge that is prloom itself, and its one target. */
export const CORE_TARGET = "prloom-core";
const OWN = [DISPATCHER, TRIAGE, TRIGGERS, REVIEW, GATE, PASS_OVER] as const;

/** A handler of records. */
export type Handler =
  | { readonly kind: "hook"; readonly point: string; readonly plugin: string }
  | { readonly kind: "poll" | "deliver"; readonly bridge: string }
  /** An action's place in the outbox. A revived action gets another: `life` counts from 1. */
  | { readonly kind: "outbox"; readonly life: number }
  /** A part of prloom. */
  | { readonly kind: "own"; readonly name: (typeof OWN)[number] };

/** The name under which a handler settles records. */
export function handlerName(handler: Handler): string {
  switch (handler.kind) {
    case "hook":
      return `${handler.point}:${handler.plugin}`;
    case "poll":
    case "deliver":
      return `${handler.kind}:${handler.bridge}`;
    case "outbox":
      return handler.life === 1 ? "outbox" : `outbox-${handler.life}`;
    case "own":
      return handler.name;
  }
}

/** The handler that a name is of; undefined for one that this version does not know. */
export function parseHandler(name: string): Handler | undefined {
  const own = OWN.find((each) => each === name);
  if (own !== undefined) return { kind: "own", name: own };
  const outbox = /^outbox(?:-([1-9]\d*))?$/.exec(name);
  if (outbox) return { kind: "outbox", life: Number(outbox[1] ?? 1) };
  const colon = name.indexOf(":");
  const [kind, rest] = [name.slice(0, colon), name.slice(colon + 1)];
  if (colon <= 0 || rest === "") return undefined;
  if (kind === "poll" || kind === "deliver") return { kind, bridge: rest };
  return { kind: "hook", point: kind, plugin: rest };
}

/** The plugin or bridge that emits as this handler, as actions name it; undefined: prloom itself. */
export function emitterName(handlerName: string): string | undefined {
  const handler = parseHandler(handlerName);
  if (handler?.kind === "hook") return `plugin:${handler.plugin}`;
  return handler?.kind === "poll" ? `bridge:${handler.bridge}` : undefined;
}

/** Whose values a settlement changes. */
export type StoreOwner =
  | { readonly kind: "plan" | "global"; readonly plugin: string }
  | { readonly kind: "bridge"; readonly name: string };

/** The name of a store in `settlement.state`. */
export function storeName(owner: StoreOwner): string {
  return `${owner.kind}:${owner.kind === "bridge" ? owner.name : owner.plugin}`;
}

/** The owner that a store's name is of; undefined for one that this version does not know. */
export function parseStore(name: string): StoreOwner | undefined {
  const colon = name.indexOf(":");
  const [kind, owner] = [name.slice(0, colon), name.slice(colon + 1)];
  if (owner === "") return undefined;
  if (kind === "plan" || kind === "global") return { kind, plugin: owner };
  return kind === "bridge" ? { kind, name: owner } : undefined;
}

/** Ids of actions that prloom makes begin with this. */
const DERIVED_ID = "act-";

/** Whether prloom made this id: plugins and bridges may give none that looks like it. */
export function isDerivedId(id: string): boolean {
  return id.startsWith(DERIVED_ID);
}

/** What an action's id is made of. */
export interface ActionIdParts {
  readonly scope: Scope;
  readonly recordId: string;
  readonly handler: string;
  /** Which of the handler's actions for this record it is, from 0. */
  readonly ordinal: number;
}

/** The id of an action: a handler that runs again gives its actions the same ids. */
export function actionId({ scope, recordId, handler, ordinal }: ActionIdParts): string {
  return `${DERIVED_ID}${sha256(JSON.stringify([scope.planId ?? null, recordId, handler, ordinal])).slice(0, 32)}`;
}
