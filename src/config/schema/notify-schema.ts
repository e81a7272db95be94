import * as z from "zod";
import { anObject, moduleName, variableName } from "./fields.ts";

const address = variableName.describe("The environment variable that holds the address.");
const header = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: "is not a name for an HTTP header" });

const channel = z.discriminatedUnion(
  "kind",
  [
    z.strictObject({ kind: z.literal("desktop") }),
    z.strictObject({ kind: z.literal("slack"), urlEnv: address }),
    z.strictObject({
      kind: z.literal("webhook"),
      urlEnv: address,
      headersEnv: z
        .record(header, variableName, anObject)
        .exactOptional()
        .describe("Headers, each with the environment variable that holds its value."),
    }),
    z.strictObject({ kind: z.literal("terminal") }),
  ],
  anObject,
);
const channels = z.array(z.string({ error: "must be a string" }), { error: "must be a list of names of channels" });

/** Where notifications go: to all channels, unless it says otherwise. */
export const notifySchema = z
  .strictObject(
    {
      channels: z.record(moduleName, channel, anObject),
      routes: z
        .strictObject(
          {
            urgent: channels.exactOptional(),
            action: channels.exactOptional(),
            warning: channels.exactOptional(),
            info: channels.exactOptional(),
          },
          anObject,
        )
        .prefault({})
        .describe("Channels by priority."),
      default: channels.exactOptional().describe("Channels of the priorities that have no route. All of them"),
    },
    anObject,
  )
  .transform(({ default: others, ...rest }) => ({ ...rest, default: others ?? Object.keys(rest.channels) }));
