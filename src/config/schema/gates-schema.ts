import * as z from "zod";
import { anObject, duration, durationLike, text, texts, usually, yesOrNo } from "./fields.ts";
import { withUnits } from "./units.ts";

/** It is also a pattern of what agents may not change, and must not mean more than itself there. */
const PLAIN_PART = /^\.?[\w@+-][\w@+. -]*$/;

/** When a person is asked, and who that is. */
export const gatesSchema = z
  .strictObject(
    {
      plan: usually(yesOrNo.describe("Whether a person approves each plan before it is implemented"), false),
      pr: usually(
        yesOrNo.describe("Whether a person approves each change before it is marked ready and merged"),
        false,
      ),
      approvers: texts
        .exactOptional()
        .describe(
          "Logins that may answer (`ada`, or `ada#1003` with the user id), in place of everyone with write permission.",
        ),
      signers: text
        .refine((path) => path.split("/").every((part) => PLAIN_PART.test(part)), {
          error: "must be the path of a file below the repository, of plain letters",
        })
        .exactOptional()
        .describe("A file in the format of ssh's allowed signers: whose signatures count, whatever login posts them."),
      remindAfter: duration("24h", "Reminds people of a plan that waits for their answer, again and again", {
        long: true,
        least: "1m",
      }),
      expireAfter: durationLike("7d", { long: true })
        .exactOptional()
        .describe("A plan that waited for an answer for this long is blocked."),
      advisory: usually(
        yesOrNo.describe("Whether plans may be gated with agents that nothing keeps from writing"),
        false,
      ),
    },
    anObject,
  )
  .transform(withUnits);

/** A preset and a plan may only switch gates on. */
export const switchedOnSchema = z.strictObject(
  { plan: z.literal(true).exactOptional(), pr: z.literal(true).exactOptional() },
  anObject,
);
