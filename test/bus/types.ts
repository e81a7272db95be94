/** Public types are written by hand. Never run: `tsc` fails when they stop being what the schemas give. */
import type * as z from "zod";
import type { Action, BusEvent, Payload, ReplyAddress } from "../../src/bus/message-types.ts";
import type { actionSchema, busEventSchema, payloadSchema, replyAddressSchema } from "../../src/bus/types.ts";
import type { Same } from "../testing/same-type.ts";

export const PUBLIC_TYPES_ARE_THE_SCHEMAS: {
  address: Same<ReplyAddress, z.infer<typeof replyAddressSchema>>;
  event: Same<BusEvent, z.infer<typeof busEventSchema>>;
  payload: Same<Payload, z.infer<typeof payloadSchema>>;
  action: Same<Action, z.infer<typeof actionSchema>>;
} = { address: true, event: true, payload: true, action: true };
