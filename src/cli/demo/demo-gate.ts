import { watch } from "node:fs";
import { createInterface } from "node:readline";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import type { Paths } from "../../dispatcher/paths.ts";
import type { PlanDetail } from "../../dispatcher/report/read.ts";
import { readAnswer } from "../../gate/answer.ts";
import type { GateRecord } from "../../gate/gate-record.ts";
import type { Output } from "../output.ts";
import { visibleLines } from "../render/safe-text.ts";
import { authorName } from "../talking/comment.ts";

interface DemoGate {
  readonly paths: Paths;
  readonly out: Output;
  readonly read: () => Promise<PlanDetail>;
}

/** Shows the plan and waits until it is answered, here or by a command elsewhere. False when it was not approved. */
export async function passGate({ paths, out, read }: DemoGate): Promise<boolean> {
  const { summary, gates } = await read();
  const gate = gates.at(-1);
  if (gate?.state !== "open") return gate?.state === "approved";
  for (const line of visibleLines(gate.shown)) out.line(line);
  out.line();
  out.line(
    `${out.paint("bold", "Type yes to let it be implemented")}, or elsewhere: cd ${paths.root} && prloom approve ${summary.planId}`,
  );
  const elsewhere = answeredElsewhere(paths, gate, read);
  const said = await Promise.race([typedLine(), elsewhere.answered]).finally(elsewhere.stop);
  if (said !== "elsewhere" && (/^y(?:es)?$/i.test(said.trim()) || readAnswer(said).says === "approve")) {
    const author = await authorName(paths.root);
    const answer = { plan: summary.planId, decision: "approve", gateId: gate.gateId, words: "", author };
    await callOwner(paths.root, "answer", answer);
  }
  return (await read()).gates.at(-1)?.state === "approved";
}

/** The next line of standard input; empty at its end. */
function typedLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  const { promise, resolve } = Promise.withResolvers<string>();
  lines.once("line", resolve).once("close", () => resolve(""));
  return promise.finally(() => lines.close());
}

function answeredElsewhere({ gates }: Paths, { gateId }: GateRecord, read: () => Promise<PlanDetail>) {
  const { promise: answered, resolve } = Promise.withResolvers<"elsewhere">();
  const look = async (): Promise<void> => {
    const gate = (await read()).gates.find((one) => one.gateId === gateId);
    if (gate?.state !== "open") resolve("elsewhere");
  };
  const watcher = watch(gates, () => void look().catch(() => undefined));
  // Answered before it was watched.
  void look().catch(() => undefined);
  return { answered, stop: () => watcher.close() };
}
