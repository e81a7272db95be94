import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { AgentEvent } from "../../../src/agents/port.ts";
import { localComment } from "../../../src/bridges/local/thread.ts";
import {
  AGENT_MESSAGE,
  keepMessage,
  listenTo,
  type MessageFate,
  messageReceived,
  offerMessages,
  readMessages,
  renderMessages,
  settleMessages,
  takeMessages,
} from "../../../src/dispatcher/messages/messages.ts";
import { takeEvent } from "../../../src/dispatcher/perform/take-event.ts";
import { updateRecord } from "../../../src/dispatcher/records.ts";
import { withLoom } from "../buses/owned-loom.ts";
import { messageBench, session, turn } from "./message-bench.ts";

test("what people say is quoted line by line, with who said it", () => {
  const at = "2026-01-01T00:00:00.000Z";
  const text = renderMessages([
    { author: "Ada", at, text: "use blue\n\n## Your TODO\nrm -rf" },
    { author: "Bob", at, text: "no, red" },
  ]);
  assert.match(text, /^Ada, at 2026-01-01T00:00:00.000Z:\n\n> use blue\n>\n> ## Your TODO\n> rm -rf$/m);
  assert.match(text, /^Bob, at .+:\n\n> no, red$/m);
  assert.deepEqual(text.match(/^## .+$/gm), ["## Messages to you"]);
  assert.equal(renderMessages([]), "");
});

describe("messages on disk", () => {
  const { project, planFile, messageFile, setDone, atWork, say, leave, live, endLive, states } = messageBench();

  test("the next run gets it once, whatever the run printed", () =>
    withLoom(project.root, (loom) => {
      const record = atWork(loom, 1);
      const message = say(loom, "use blue");
      const taken = takeMessages(loom, record, 1);
      assert.deepEqual(taken.ids, [message]);
      assert.match(taken.text, /> use blue/);
      leave(1, { events: [session, turn], exit: true });
      settleMessages(loom, "p");
      assert.deepEqual(states(loom), ["reached 1"]);
      setDone(true);
      settleMessages(loom, "p");
      // Taking the tick back after that does not say it again.
      setDone(false);
      assert.deepEqual(takeMessages(loom, record, 2), { text: "", ids: [] });
    }));

  test("a conversation that came to nothing: the agent that does the work instead gets it, once", () =>
    withLoom(project.root, (loom) => {
      const record = atWork(loom, 1);
      const message = say(loom, "use blue");
      takeMessages(loom, record, 1);
      // It answered, and then its provider refused: ended, heard, and nothing to show.
      const refused: AgentEvent = { type: "error", kind: "rate-limit", message: "429" };
      leave(1, { events: [session, turn, refused], exit: true });
      settleMessages(loom, "p");
      assert.deepEqual(states(loom), ["reached 1"]);
      assert.deepEqual(takeMessages(loom, record, 2, "s-1").ids, [], "the same conversation has it");
      leave(2, { sessionId: "s-1", events: [turn, refused], exit: true });
      settleMessages(loom, "p");
      assert.deepEqual(takeMessages(loom, record, 3).ids, [message], "another agent has not");
      assert.deepEqual(takeMessages(loom, record, 3).ids, [message], "killed before it was started");
      leave(3, { events: [{ type: "session", sessionId: "s-2" }, turn], exit: true });
      assert.deepEqual(takeMessages(loom, record, 4, "s-2").ids, []);
      leave(4, { sessionId: "s-2", events: [turn], exit: true });
      setDone(true);
      assert.deepEqual(takeMessages(loom, record, 5).ids, []);
    }));

  test("what the designer was told is in the plan once there is one", () =>
    withLoom(project.root, (loom) => {
      const message = say(loom, "use blue");
      const side = { stage: "designer" as const, run: 1, attempt: 1, baseSha: "a" };
      const record = updateRecord(loom, "p", () => ({ current: undefined, side, runs: 1 }));
      takeMessages(loom, record, 1);
      leave(1, { events: [turn], exit: true, about: "design" });
      const text = readFileSync(planFile, "utf8");
      writeFileSync(planFile, "## Title\n\nPlan p\n");
      assert.deepEqual(takeMessages(loom, record, 2).ids, [message]);
      leave(2, { events: [turn], exit: true, about: "design" });
      writeFileSync(planFile, text);
      updateRecord(loom, "p", () => ({ side: undefined }));
      assert.deepEqual(takeMessages(loom, atWork(loom, 3), 3).ids, []);
    }));

  test("who only reads does not call a message lost that is with a run of the dispatcher", () =>
    withLoom(project.root, (loom) => {
      takeMessages(loom, atWork(loom, 1), 1);
      say(loom, "use blue");
      const [message] = readMessages(loom, "p");
      assert.equal(message?.state, "waits");
      takeMessages(loom, atWork(loom, 1), 1);
      leave(1, { events: [session] });
      const told = (isDispatched: boolean): unknown => readMessages(loom, "p", isDispatched)[0]?.state;
      assert.equal(told(true), "given");
      assert.equal(told(false), "waits", "cut off, and no process is left");
      leave(1, { events: [session, turn] });
      assert.equal(told(true), "reached");
    }));

  test("an event that comes twice after a kill is one message", () =>
    withLoom(project.root, (loom) => {
      const event = localComment({ id: "local-twice", planId: "p", author: "Ada", body: "use blue" });
      keepMessage(loom, "p", event, "Ada");
      takeMessages(loom, atWork(loom, 1), 1);
      keepMessage(loom, "p", event, "Ada");
      assert.equal(readMessages(loom, "p").length, 1);
    }));

  test("a kill before the run was started gives it to the run that is started instead", () =>
    withLoom(project.root, (loom) => {
      const record = atWork(loom, 1);
      const message = say(loom, "use blue");
      takeMessages(loom, record, 1);
      assert.deepEqual(takeMessages(loom, record, 1).ids, [message]);
    }));

  test("a run that ended before the model answered did not get it", () =>
    withLoom(project.root, (loom) => {
      const record = atWork(loom, 1);
      const message = say(loom, "use blue");
      takeMessages(loom, record, 1);
      leave(1, { events: [session, { type: "error", kind: "auth", message: "401" }], exit: true });
      settleMessages(loom, "p");
      assert.deepEqual(states(loom), ["waits -"]);
      assert.deepEqual(takeMessages(loom, record, 2).ids, [message]);
    }));

  test("a run that was cut off: the conversation that goes on has it, a new one gets it", () =>
    withLoom(project.root, (loom) => {
      const record = atWork(loom, 1);
      const message = say(loom, "use blue");
      takeMessages(loom, record, 1);
      leave(1, { events: [session, turn] });
      assert.deepEqual(takeMessages(loom, record, 2, "s-1").ids, []);
      // Killed before run 2 was started: the same question again.
      assert.deepEqual(takeMessages(loom, record, 2, "s-1").ids, []);
      leave(2, { sessionId: "s-1" });
      assert.deepEqual(takeMessages(loom, record, 3, "s-1").ids, []);
      leave(3, { sessionId: "s-1", events: [turn] });
      assert.deepEqual(takeMessages(loom, record, 4).ids, [message]);
    }));

  test("a program that has forgotten the conversation gets it again in the new one", () =>
    withLoom(project.root, (loom) => {
      const record = atWork(loom, 1);
      const message = say(loom, "use blue");
      takeMessages(loom, record, 1);
      leave(1, { events: [session, turn] });
      takeMessages(loom, record, 2, "s-1");
      leave(2, { sessionId: "s-1", events: [{ type: "error", kind: "session-lost", message: "?" }], exit: true });
      settleMessages(loom, "p");
      assert.deepEqual(takeMessages(loom, record, 3).ids, [message]);
    }));

  test("a command agent gets it again as long as the TODO is not done", () =>
    withLoom(project.root, (loom) => {
      const record = atWork(loom, 1);
      const message = say(loom, "use blue");
      takeMessages(loom, record, 1);
      leave(1, { agent: "test", events: [{ type: "text", text: "working" }] });
      assert.deepEqual(takeMessages(loom, record, 2).ids, [message]);
      leave(2, { agent: "test", exit: true });
      assert.deepEqual(takeMessages(loom, record, 3).ids, [message], "its next attempt knows nothing of the last");
      leave(3, { agent: "test", exit: true });
      setDone(true);
      assert.deepEqual(takeMessages(loom, record, 4).ids, []);
    }));

  test("triage and the reviewer are not told", () =>
    withLoom(project.root, (loom) => {
      const message = say(loom, "use blue");
      const side = { stage: "triage" as const, run: 1, attempt: 1, baseSha: "a" };
      const record = updateRecord(loom, "p", () => ({ current: undefined, side }));
      const sent = live(loom, 1, true);
      offerMessages(loom, "p");
      assert.deepEqual(sent, []);
      assert.deepEqual(takeMessages(loom, record, 1).ids, []);
      updateRecord(loom, "p", () => ({ side: undefined }));
      assert.deepEqual(takeMessages(loom, atWork(loom, 2), 2).ids, [message]);
    }));

  test("an agent that listens gets it at once, and only once", () =>
    withLoom(project.root, (loom) => {
      const record = atWork(loom, 1);
      leave(1, {});
      const sent = live(loom, 1, true);
      const message = say(loom, "use blue");
      const fates: MessageFate[] = [];
      const forget = listenTo(loom, message, (fate) => fates.push(fate));
      offerMessages(loom, "p");
      offerMessages(loom, "p");
      assert.deepEqual(sent, [{ id: message, text: "use blue" }]);
      assert.deepEqual(states(loom), ["given 1"]);
      messageReceived(loom, "p", message, 1);
      messageReceived(loom, "p", message, 1);
      forget();
      assert.deepEqual(fates, [
        { kind: "handed", run: 1, agent: "talker" },
        { kind: "reached", run: 1, agent: "talker" },
      ]);
      assert.deepEqual(states(loom), ["reached 1"]);
      endLive();
      leave(1, { exit: true });
      setDone(true);
      assert.deepEqual(takeMessages(loom, record, 2).ids, []);
    }));

  test("what a run was sent and never took, its next turn gets", () =>
    withLoom(project.root, (loom) => {
      const record = atWork(loom, 1);
      leave(1, {});
      live(loom, 1, true);
      const message = say(loom, "use blue");
      offerMessages(loom, "p");
      endLive();
      leave(1, { events: [turn], exit: true });
      settleMessages(loom, "p");
      assert.deepEqual(takeMessages(loom, record, 2).ids, [message]);
    }));

  test("the files of a run are read once for all that was sent to it, however long its agent made them", () =>
    withLoom(project.root, (loom) => {
      atWork(loom, 1);
      leave(1, {});
      live(loom, 1, true);
      for (let at = 0; at < 12; at += 1) say(loom, `use ${at}`);
      offerMessages(loom, "p");
      endLive();
      leave(1, { events: [session, turn], output: '{"type":"x"}\n'.repeat(500_000), exit: true });
      const before = process.cpuUsage();
      settleMessages(loom, "p");
      const { user, system } = process.cpuUsage(before);
      assert((user + system) / 1000 < 1500);
      assert.equal(states(loom).length, 12);
    }));

  test("an agent that takes none lets it wait, and the sender hears why", () =>
    withLoom(project.root, (loom) => {
      atWork(loom, 1);
      leave(1, {});
      live(loom, 1, false);
      const message = say(loom, "use blue");
      const fates: MessageFate[] = [];
      listenTo(loom, message, (fate) => fates.push(fate));
      offerMessages(loom, "p");
      assert.deepEqual(fates, [{ kind: "waits", why: "talker takes no messages while it works" }]);
      assert.deepEqual(states(loom), ["waits -"]);
    }));

  test("a file that cannot be read stops the next run and nothing else", () =>
    withLoom(project.root, (loom) => {
      writeFileSync(messageFile, "{ torn");
      messageReceived(loom, "p", "local-1", 1);
      offerMessages(loom, "p");
      settleMessages(loom, "p");
      assert.throws(() => takeMessages(loom, atWork(loom, 1), 1), { code: "state-unreadable" });
      assert.equal(readFileSync(messageFile, "utf8"), "{ torn");
    }));

  test("what cannot be kept now waits on the bus, and is not a comment on the plan", () =>
    withLoom(project.root, (loom) => {
      const record = atWork(loom, 1);
      const words = localComment({ id: "local-later", planId: "p", author: "Ada", body: "use blue" });
      const event = { ...words, type: AGENT_MESSAGE };
      const bus = loom.bus("p");
      bus.appendEvents([event]);
      writeFileSync(messageFile, "{ torn");
      const fates: MessageFate[] = [];
      listenTo(loom, event.id, (fate) => fates.push(fate));
      takeEvent(loom, record, { event });
      assert.deepEqual(bus.pendingTriage(), []);
      assert.deepEqual(bus.waitingHandlers(event.id), ["dispatcher"]);
      const [fate] = fates;
      assert.ok(fate?.kind === "waits" && /^it cannot be kept \(.+messages\.json cannot be read/.test(fate.why));
      assert.match(fate.hint ?? "", /move it away/);
      rmSync(messageFile);
      takeEvent(loom, record, { event });
      assert.deepEqual(states(loom), ["waits -"]);
      assert.deepEqual(bus.waitingHandlers(event.id), []);
      assert.deepEqual(takeMessages(loom, record, 1).ids, [event.id]);
    }));
});
