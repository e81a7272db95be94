import { resolve } from "node:path";
import { meantGate, newestGates } from "../../dispatcher/gates/plan-gate.ts";
import { findKeygen, inPrivateFolder, runKeygen } from "../../dispatcher/gates/ssh-keygen.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { requireRecord } from "../../dispatcher/records.ts";
import type { GateDecision } from "../../gate/gate-record.ts";
import { SIGNED_FOR, type SignedWords, signedComment, textToSign, wordsToSign } from "../../gate/signed-answer.ts";
import { gitAt, openRepository } from "../../git/repository.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { homeFolder } from "../../kernel/system/user.ts";
import type { Call } from "../output.ts";
import { reading, refuseAgents, suggesting } from "../plans.ts";

export interface SignFlags {
  readonly gate?: string;
  readonly digest?: string;
}

interface ToSign extends SignFlags {
  readonly plan: string;
  readonly decision: GateDecision;
  readonly words: string;
}

/** Prints an answer that counts under whatever login it is posted. Nothing is decided by it yet. */
export async function signAnswer(call: Call, { plan, decision, words, gate, digest }: ToSign): Promise<number> {
  await refuseAgents(call, { plan, command: `prloom ${decision} ${plan} --sign` });
  // On another machine there are no records: then the post of the gate says both.
  const asked =
    gate !== undefined && digest !== undefined
      ? { gateId: gate.toUpperCase(), digest }
      : await suggesting(call, plan, () => reading(call, (loom) => shownGate(loom, { plan, decision, gate })));
  const said = wordsToSign({ decision, ...asked, words });
  if (!said) {
    const hint = "Give the whole gate and digest, as the post has them, and words that are not a command.";
    throw new PrloomError("usage", "This answer cannot be signed: it would be read as another one.", hint);
  }
  const comment = signedComment(said.text, { digest: asked.digest, signature: await signatureOf(call, said.signed) });
  call.output.data({ plan, ...asked, decision, comment });
  if (call.output.json) return 0;
  for (const line of comment.trimEnd().split("\n")) call.output.line(line);
  call.output.note(
    `Post this as a comment where ${plan} was shown, or pipe it into \`prloom comment ${plan} --stdin\`.`,
  );
  return 0;
}

function shownGate(
  loom: Loom,
  { plan, decision, gate }: { plan: string; decision: GateDecision; gate?: string | undefined },
) {
  const record = requireRecord(loom, plan);
  const found =
    gate === undefined
      ? meantGate(loom, record, decision)
      : newestGates(loom, record).find((one) => one.gateId === gate);
  if (found) return { gateId: found.gateId, digest: found.digest };
  throw new PrloomError("plan-state", `${plan} was not shown at such a gate.`, "`prloom gates` lists those that wait.");
}

/** A person may have to touch a key, or type its passphrase. */
const DEADLINE_MS = 5 * 60_000;

async function signatureOf(call: Call, words: SignedWords): Promise<string> {
  const keygen = findKeygen(call.env);
  if (keygen === undefined)
    throw new PrloomError(
      "signing-failed",
      "ssh-keygen is not installed.",
      "Install OpenSSH (Debian: openssh-client), then try again.",
    );
  const key = await signingKey(call);
  return inPrivateFolder(key.kind === "text" ? { key: `${key.text}\n` } : {}, async (pathOf) => {
    // A public key stands for a private one that an agent of ssh holds.
    const file = key.kind === "text" ? ["-U", "-f", pathOf("key")] : ["-f", key.path];
    const signing = {
      args: ["-Y", "sign", "-n", SIGNED_FOR, ...file],
      input: textToSign(words),
      env: call.env,
      deadlineMs: DEADLINE_MS,
    };
    const { code, stdout, stderr } = await runKeygen(keygen, signing);
    if (code === 0 && stdout.includes("BEGIN SSH SIGNATURE")) return stdout;
    const why = stderr.trim().split("\n").at(-1) || "it took too long";
    throw new PrloomError("signing-failed", `ssh-keygen did not sign the answer: ${why}`, KEY_HINT);
  });
}

const KEY_HINT = "Set the key with `git config user.signingkey ~/.ssh/id_ed25519.pub` (an SSH key), then try again.";

type SigningKey = { readonly kind: "path"; readonly path: string } | { readonly kind: "text"; readonly text: string };

/** As git reads `user.signingkey` for SSH: a file, or the key itself. */
async function signingKey(call: Call): Promise<SigningKey> {
  const repo = await openRepository(call.cwd);
  const { stdout } = await gitAt(repo, ["config", "user.signingkey"], { allowExit: [1] });
  const value = stdout.trim();
  if (value === "") throw new PrloomError("signing-failed", "git has no user.signingkey.", KEY_HINT);
  const literal = /^(?:key::)?((?:ssh|ecdsa|sk)-\S+ .+)$/.exec(value)?.[1];
  if (literal !== undefined) return { kind: "text", text: literal };
  const path = value.startsWith("~/") ? resolve(homeFolder(call.env), value.slice(2)) : resolve(call.cwd, value);
  return { kind: "path", path };
}
