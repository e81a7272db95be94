import { probeSandbox } from "../../src/agents/sandbox/probe.ts";

/** Why runs have no sandbox on this machine; undefined where they have one. */
export async function sandboxMissing(): Promise<string | undefined> {
  const probe = await probeSandbox();
  return probe.works ? undefined : `${probe.why}. To fix it: ${probe.remedy}`;
}
