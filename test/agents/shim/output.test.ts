import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { CUT, type OutputLimits, openOutputLog, THINNED } from "../../../src/agents/shim/output.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-output-"));
after(() => rmSync(root, { recursive: true, force: true }));

/** What is in the log, and whether all of it is; the program prints `size` bytes at a time. */
function logged(printed: string, limits: OutputLimits, size = printed.length): { text: string; truncated: boolean } {
  const path = join(root, "output.log");
  const log = openOutputLog(path, limits);
  const bytes = Buffer.from(printed);
  for (let at = 0; at < bytes.length; at += size) log.write(bytes.subarray(at, at + size));
  log.close();
  assert.equal(log.bytes(), bytes.length);
  return { text: readFileSync(path, "utf8"), truncated: log.truncated() };
}

const line = (value: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...value })}\n`;
const told = (text: string): string => line({ method: "session/update", params: { text, item: { id: "nested" } } });
const question = line({ id: 7, method: "session/request_permission", params: { title: "rm ‘x’" } });
const answer = line({ result: { stopReason: "end_turn" }, id: 0 });
const FLOOD = Array.from({ length: 20 }, (_, n) => told(`"id": ${n}`)).join("");
const notKept = (bytes: number): string => `… ${bytes} bytes not kept\n`;

describe("output beyond the limit", () => {
  test("is not kept", () => {
    const { text, truncated } = logged("hello\nagain\n", { maxBytes: 8 });
    assert.deepEqual([text, truncated], [`hello\nag\n${CUT}\n${notKept(4)}`, true]);
    assert.deepEqual(logged("hello\n", { maxBytes: 6 }), { text: "hello\n", truncated: false });
  });

  for (const size of [1, 7, 64, 1_000_000]) {
    describe(`of JSON-RPC that comes ${size} bytes at a time`, () => {
      const rpc = (printed: string, maxBytes: number) => logged(printed, { maxBytes, rpc: true }, size);

      test("is left out, but for questions and answers", () => {
        const maxBytes = 500;
        const { text, truncated } = rpc(FLOOD + question + told("on") + answer, maxBytes);
        const left = FLOOD.length - maxBytes + told("on").length;
        const first = FLOOD.slice(0, maxBytes);
        assert.deepEqual([text, truncated], [`${first}\n${THINNED}\n${question}${answer}${notKept(left)}`, true]);
      });

      test("is kept to the end of a question in which the limit was reached", () => {
        const first = FLOOD + question;
        const { text } = rpc(first + FLOOD + answer, FLOOD.length + 5);
        assert.equal(text, `${first}${THINNED}\n${answer}${notKept(FLOOD.length)}`);
      });

      test("begins with a line of its own where one had ended at the limit", () => {
        assert.equal(rpc(FLOOD + question, FLOOD.length).text, `${FLOOD}${THINNED}\n${question}`);
      });

      test("is kept as long as it is not more than as much again", () => {
        const { text } = rpc(FLOOD + question.repeat(100) + told("on"), FLOOD.length);
        const fit = Math.floor(FLOOD.length / Buffer.byteLength(question));
        const left = (100 - fit) * Buffer.byteLength(question) + told("on").length;
        assert.equal(text, `${FLOOD}${THINNED}\n${question.repeat(fit)}\n${CUT}\n${notKept(left)}`);
      });

      test("is not waited for in a line without an end", () => {
        const { text } = rpc(FLOOD + "x".repeat(10 * FLOOD.length), FLOOD.length);
        assert.equal(text, `${FLOOD}\n${CUT}\n${notKept(10 * FLOOD.length)}`);
        assert.equal(rpc(`${FLOOD}{"id"`, FLOOD.length + 2).text, `${FLOOD}{"\n${CUT}\n${notKept(3)}`);
      });
    });
  }
});

test("a full disk cuts the log, not the run", () => {
  const log = openOutputLog("/dev/full", { maxBytes: 1000 });
  log.write(Buffer.from("hello"));
  log.write(Buffer.from("again"));
  log.close();
  assert.deepEqual([log.bytes(), log.truncated()], [10, true]);
  assert.match(log.problem() ?? "", /ENOSPC/);
});
