import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  judgeMessage,
  type MessageEvidence,
  type RunSigns,
  type WaitingView,
  wasHeard,
  whyItWaits,
} from "../../../src/dispatcher/messages/judge-message.ts";

describe("what becomes of a message", () => {
  type Given = Pick<MessageEvidence, "run" | "heard"> & Partial<Pick<MessageEvidence, "accepted" | "goesOn">>;
  const table: [Given, ReturnType<typeof judgeMessage>][] = [
    [{ run: "live", heard: false }, "open"],
    [{ run: "live", heard: true }, "open"],
    [{ run: "live", heard: true, accepted: true, goesOn: true }, "open"],
    [{ run: "ended", heard: true, accepted: true }, "delivered"],
    [{ run: "ended", heard: true, accepted: true, goesOn: false }, "delivered"],
    [{ run: "ended", heard: true, accepted: true, goesOn: true }, "delivered"],
    [{ run: "interrupted", heard: true, accepted: true, goesOn: false }, "delivered"],
    [{ run: "ended", heard: false, accepted: true, goesOn: true }, "waits"],
    [{ run: "ended", heard: true }, "open"],
    [{ run: "ended", heard: true, goesOn: true }, "carried"],
    [{ run: "ended", heard: true, goesOn: false }, "waits"],
    [{ run: "ended", heard: false }, "waits"],
    [{ run: "ended", heard: false, goesOn: true }, "waits"],
    [{ run: "interrupted", heard: true }, "open"],
    [{ run: "interrupted", heard: true, goesOn: true }, "carried"],
    [{ run: "interrupted", heard: true, goesOn: false }, "waits"],
    [{ run: "interrupted", heard: false, goesOn: true }, "waits"],
    [{ run: "none", heard: false, goesOn: true }, "waits"],
    [{ run: "none", heard: true }, "open"],
    [{ run: "none", heard: true, goesOn: true }, "carried"],
    [{ run: "none", heard: true, goesOn: false }, "waits"],
  ];
  for (const [evidence, verdict] of table) {
    test(`${JSON.stringify(evidence)}: ${verdict}`, () => {
      assert.equal(judgeMessage({ goesOn: undefined, accepted: false, ...evidence }), verdict);
    });
  }
});

describe("whether a run got a message", () => {
  const nothing: RunSigns = { events: new Set(), received: new Set(), ran: true, isCommand: false };
  const table: [string, "live" | "next-turn", Partial<RunSigns>, boolean][] = [
    ["sent while it works, and it said so", "live", { received: new Set(["m"]) }, true],
    ["sent while it works, another was received", "live", { received: new Set(["n"]) }, false],
    ["sent while it works, it only went on", "live", { events: new Set(["turn"]) }, false],
    ["in the prompt, the model answered", "next-turn", { events: new Set(["session", "turn"]) }, true],
    ["in the prompt, the model called a tool", "next-turn", { events: new Set(["tool_call"]) }, true],
    ["in the prompt, there was only an error", "next-turn", { events: new Set(["session", "text", "error"]) }, false],
    ["in the prompt of a program that tells nothing", "next-turn", { isCommand: true }, true],
    ["in the prompt of one that could not be started", "next-turn", { isCommand: true, ran: false }, false],
  ];
  for (const [name, how, signs, heard] of table) {
    test(`${name}: ${heard ? "it did" : "it did not"}`, () => {
      assert.equal(wasHeard({ id: "m", how }, { ...nothing, ...signs }), heard);
    });
  }
});

describe("what a message waits for", () => {
  const calm: WaitingView = {
    id: "p",
    status: "active",
    blocked: false,
    gated: false,
    paused: false,
    hidden: false,
    opened: false,
    live: undefined,
    dispatcher: true,
  };
  const table: [Partial<WaitingView>, RegExp, RegExp | undefined][] = [
    [{}, /no agent is at work/, undefined],
    [{ live: { agent: "codex", stage: "worker", listens: true } }, /codex takes no messages while it works/, undefined],
    [{ live: { agent: "codex", stage: "triage", listens: false } }, /as triage, and only the worker/, undefined],
    [{ opened: true, paused: true }, /a person has the plan open/, undefined],
    [{ blocked: true }, /blocked/, /prloom unblock p/],
    [{ paused: true }, /paused/, /prloom resume p/],
    [{ hidden: true }, /hidden/, /prloom unhide p/],
    [{ status: "draft", dispatcher: false }, /draft/, /prloom queue p/],
    [{ status: "queued" }, /has not begun/, undefined],
    [{ gated: true, dispatcher: false }, /waits for an answer at its gate/, /prloom approve p/],
    [{ status: "review" }, /in review, and no turn is due/, /prloom comment p/],
    [{ dispatcher: false }, /no dispatcher/, /prloom start/],
  ];
  for (const [change, why, hint] of table) {
    test(JSON.stringify(change), () => {
      const told = whyItWaits({ ...calm, ...change });
      assert.match(told.why, why);
      if (hint) assert.match(told.hint ?? "", hint);
      else assert.equal(told.hint, undefined);
    });
  }
});
