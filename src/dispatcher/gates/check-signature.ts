import type { BusEvent } from "../../bus/types.ts";
import { readSigned, type SignatureCheck, type SignedAnswer, textToSign } from "../../gate/signed-answer.ts";
import { messageOf } from "../../kernel/errors.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Configured } from "../settings/pinned.ts";
import { signersIn } from "../settings/signers.ts";
import type { Gated } from "./gate-store.ts";
import { gatesOf } from "./plan-gate.ts";
import { verifySignature } from "./ssh-keygen.ts";

const refused = (why: string): SignatureCheck => ({ kind: "refused", why });

/** Whose signature a comment has; undefined for one without. What cannot be checked, whatever the reason, does not count. */
export async function checkSignature(
  loom: Configured & Gated,
  record: PlanRecord,
  { body }: BusEvent,
): Promise<SignatureCheck | undefined> {
  const answer = readSigned(body);
  if (answer === undefined) return undefined;
  if (answer === "unreadable") return refused("it is not as `prloom approve --sign` writes it");
  try {
    return await checkAnswer(loom, record, answer);
  } catch (error) {
    return refused(`it could not be checked (${messageOf(error)})`);
  }
}

/** Costs processes only where the rest of it fits. */
async function checkAnswer(
  loom: Configured & Gated,
  record: PlanRecord,
  answer: SignedAnswer,
): Promise<SignatureCheck> {
  const signers = signersIn(loom.pinned.pin);
  if (signers === undefined) return refused("no file of signers is set (gates.signers)");
  const gate = gatesOf(loom, record).find(({ gateId }) => gateId === answer.gateId);
  if (!gate) return refused(`there is no gate ${answer.gateId} here`);
  if (gate.digest !== answer.digest)
    return refused(
      `it is for ${answer.digest.slice(0, 12)}, and gate ${gate.gateId} showed ${gate.digest.slice(0, 12)}`,
    );
  const { signature } = answer;
  const verified = await verifySignature({ text: textToSign(answer), signature, signers, env: loom.environment });
  return verified.kind === "valid" ? { ...verified, answer } : verified;
}
