import assert from "node:assert/strict";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import fc from "fast-check";
import { scanLines } from "../../../src/bus/file/lines.ts";
import { inTemporary } from "../temporary.ts";

const line = fc.oneof(
  fc.constant(Buffer.alloc(0)),
  fc.string({ maxLength: 60 }).map((text) => Buffer.from(text.replaceAll("\n", " "))),
  fc.string({ unit: "binary", maxLength: 60 }).map((text) => Buffer.from(text.replaceAll("\n", " "))),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes.map((byte) => (byte === 10 ? 200 : byte)))),
  // Longer than the first chunks, so that lines lie across their ends.
  fc.nat(40_000).map((length) => Buffer.alloc(length, "ä")),
);

interface Seen {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly isOurs: boolean;
}

/** What the lines are, by looking at all bytes at once. */
function expected(bytes: Buffer, final: boolean): Seen[] {
  const seen: Seen[] = [];
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    if (newline === -1 && !final) break;
    const content = bytes.subarray(start, newline === -1 ? bytes.length : newline);
    const end = newline === -1 ? bytes.length : newline + 1;
    const text = content.toString("utf8");
    if (content.length > 0) seen.push({ start, end, text, isOurs: Buffer.from(text).equals(content) });
    start = end;
  }
  return seen;
}

it("finds the lines that are there, whatever they hold and wherever the chunks end", () =>
  inTemporary((dir) => {
    const path = join(dir, "lines");
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.boolean(), fc.boolean(), (lines, isTorn, final) => {
        const bytes = Buffer.concat(lines.map((one) => Buffer.concat([one, Buffer.from("\n")])));
        const content = isTorn ? bytes.subarray(0, Math.max(0, bytes.length - 3)) : bytes;
        writeFileSync(path, content);
        const fd = openSync(path, "r");
        try {
          const seen: Seen[] = [];
          scanLines({ fd, from: 0, final }, (found) => {
            seen.push(found);
            return true;
          });
          const wanted = expected(content, final);
          assert.deepEqual(seen, wanted);
          const some: Seen[] = [];
          scanLines({ fd, from: 0, final }, (found) => some.push(found) < 2);
          assert.deepEqual(some, wanted.slice(0, 2));
        } finally {
          closeSync(fd);
        }
      }),
      { numRuns: 300 },
    );
  }));

it("goes on where it was told to stop", () =>
  inTemporary((dir) => {
    const path = join(dir, "lines");
    writeFileSync(path, "one\n\ntwo\nthree\nto");
    const fd = openSync(path, "r");
    const seen: string[] = [];
    const next = (): boolean => {
      let isFound = false;
      at = scanLines({ fd, from: at, final: false }, ({ text }) => {
        seen.push(text);
        isFound = true;
        return false;
      });
      return isFound;
    };
    let at = 0;
    while (next());
    closeSync(fd);
    assert.deepEqual(seen, ["one", "two", "three"]);
    assert.equal(at, 15, "the torn line is read when it is whole");
  }));
