import { watch } from "node:fs";
import { createInterface } from "node:readline";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import type { Paths } from "../../dispatcher/paths.ts";
import type { PlanDetail } from "../../dispatcher/report/read.ts";
import { readAnswer } from "../../gate/answer.ts";
import type { GateRecord } from "../../gate/gate-record.ts";
import { ownUser } from "../../kernel/system/user.ts";
import type { Output } from "../output.ts";
import { visibleLines } from "../render/safe-text.ts";
import { authorName } from "../talking/comment.ts";
import { thisProgram } from "./demo-summary.ts";

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
  out.line(`${out.paint("bold", "Type yes to let it be implemented")}, no to leave it, or approve it elsewhere:`);
  out.line(`  cd ${paths.root} && ${thisProgram()} approve ${summary.planId}`);
  const elsewhere = answeredElsewhere(paths, gate, read);
  const said = await Promise.race([typedAnswer(out), elsewhere.answered]).finally(elsewhere.stop);
  if (said === "yes") {
    const author = await authorName(paths.root);
    const by = ownUser(process.env).name;
    const answer = { plan: summary.planId, decision: "approve", gateId: gate.gateId, words: "", author, by };
    await callOwner(paths.root, "answer", answer);
  }
  return (await read()).gates.at(-1)?.state === "approved";
}

/** What is typed, once it is a yes or a no; the end of standard input is a no. */
function typedAnswer(out: Output): Promise<"yes" | "no"> {
  const lines = createInterface({ input: process.stdin });
  const { promise, resolve } = Promise.withResolvers<"yes" | "no">();
  lines.on("line", (line) => {
    if (/^y(?:es)?$/i.test(line.trim()) || readAnswer(line).says === "approve") resolve("yes");
    else if (/^no?$/i.test(line.trim())) resolve("no");
    else out.line("Type yes or no.");
  });
  lines.once("close", () => resolve("no"));
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
