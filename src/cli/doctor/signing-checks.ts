import type { Config } from "../../config/config.ts";
import { findKeygen } from "../../dispatcher/gates/ssh-keygen.ts";
import { signersAt } from "../../dispatcher/settings/signers.ts";
import type { Repository } from "../../git/repository.ts";
import type { Call } from "../output.ts";
import { type Finding, orFinding } from "./finding.ts";

/** Whether signed answers can be checked; nothing where none are. */
export async function checkSigning(call: Call, config: Config, repo: Repository): Promise<Finding[]> {
  const { signers } = config.gates;
  if (signers === undefined) return [];
  const findings: Finding[] = [];
  await orFinding("signers", findings, async () => {
    await signersAt(repo, config);
    findings.push({ name: "signers", state: "ok", text: `${signers} can be read on the base branch` });
  });
  const missing = missingKeygen(call.env, config);
  if (missing !== undefined)
    findings.push({
      name: "ssh-keygen",
      state: "warn",
      text: missing,
      hint: "Install OpenSSH (Debian: openssh-client).",
    });
  return findings;
}

/** What to tell where signatures are to count and cannot be checked. */
export function missingKeygen(env: Call["env"], { gates }: Pick<Config, "gates">): string | undefined {
  if (gates.signers === undefined || findKeygen(env) !== undefined) return undefined;
  return "gates.signers is set, and ssh-keygen is not installed: no signed answer counts";
}
