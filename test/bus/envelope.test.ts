import assert from "node:assert/strict";
import { it } from "node:test";
import { decodeLine, EncodedData, encodeRecord } from "../../src/bus/envelope.ts";

const TS = "2026-11-16T06:00:00.000Z";

const ODD = ["plain", 'with "quotes"', "back\\slash", "tab\there", "ünï → 🧵", "</script>", "\u2028", "\ud800"];

for (const word of ODD) {
  it(`reads an attempt as JSON would: ${JSON.stringify(word)}`, () => {
    const line = encodeRecord({ kind: "attempt", data: { record: word, handler: word } }, TS);
    assert.deepEqual(decodeLine(line), { is: "record", record: JSON.parse(line) });
  });
}

it("reads what only resembles an attempt as what it is", () => {
  const attempt = encodeRecord({ kind: "attempt", data: { record: "r", handler: "h" } }, TS);
  const more = encodeRecord({ kind: "attempt", data: { record: "r", handler: "h", more: 1 } }, TS);
  assert.deepEqual(decodeLine(more), { is: "record", record: JSON.parse(more) });
  const spaced = attempt.replace(":1,", ": 1,");
  assert.deepEqual(decodeLine(spaced), { is: "record", record: JSON.parse(spaced) });
  assert.deepEqual(decodeLine(attempt.replace(":1,", ":2,")), { is: "newer", schemaVersion: 2 });
  for (const broken of [attempt.slice(0, -1), `${attempt}x`, attempt.replace('"r"', '"\t"')])
    assert.deepEqual(decodeLine(broken), { is: "foreign" });
});

it("writes data that is JSON already as it would write the data itself", () => {
  const data = { id: "a", body: 'odd "words" →', absent: undefined, list: [1, { two: 2 }] };
  for (const id of ["a", undefined]) {
    const named = id === undefined ? { kind: "event" } : { kind: "event", id };
    const line = encodeRecord({ ...named, data: new EncodedData(data) }, TS);
    assert.equal(line, encodeRecord({ ...named, data }, TS));
  }
  assert.equal(JSON.stringify(new EncodedData(data)), JSON.stringify(data));
});
