import { sha256 } from "../../kernel/ids.ts";
import type { BusState } from "../bus-state.ts";
import { DERIVED_ID } from "../names.ts";
import type { Cursor, Envelope } from "../ports.ts";
import type { Scope } from "../types.ts";
import { createLedger } from "./ledger.ts";

/** What an action's id is made of. */
export interface ActionOrigin {
  readonly scope: Scope;
  readonly recordId: string;
  readonly handler: string;
  /** Which of the handler's actions for this record it is, from 0. */
  readonly ordinal: number;
}

/** The id of an action: a handler that runs again gives its actions the same ids. */
export function actionId({ scope, recordId, handler, ordinal }: ActionOrigin): string {
  return `${DERIVED_ID}${sha256(JSON.stringify([scope.planId ?? null, recordId, handler, ordinal])).slice(0, 32)}`;
}

/** The state after one more record of the settled log. `cursor` is the position after that record. */
export function foldSettlements(state: BusState, record: Envelope, cursor: Cursor = state.settledOffset): BusState {
  const ledger = createLedger(state);
  ledger.apply(record, cursor);
  return ledger.snapshot();
}
