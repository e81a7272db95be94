import assert from "node:assert/strict";
import { it } from "node:test";
import { decodeLine, EncodedData, encodeRecord } from "../../src/bus/envelope.ts";

const TS = "2026-11-16T06:00:00.000Z";

const ODD = ["plain", 'with "quotes"', "back\\slash", "tab\there", "ünï → 🧵", "</script>", "\u2028", "\ud800"];

for (const word of ODD) {
  it(`reads a line as JSON would: ${JSON.stringify(word)}`, () => {
    for (const data of [{ record: word, marks: { [word]: [word] } }, word, null, [word], {}])
      for (const kind of ["attempt", word]) {
        const line = encodeRecord({ kind, data }, TS);
        assert.deepEqual(decodeLine(line), { is: "record", record: JSON.parse(line) });
      }
  });
}

it("reads what only begins like a line of ours as what it is", () => {
  const line = encodeRecord({ kind: "attempt", data: { record: "r", handler: "h" } }, TS);
  for (const other of [
    line.replace(":1,", ": 1,"),
    `${line.slice(0, -1)},"id":"late"}`,
    `${line.slice(0, -1)},"schemaVersion":1}`,
    `${line} `,
  ])
    assert.deepEqual(decodeLine(other), { is: "record", record: JSON.parse(other) });
  assert.deepEqual(decodeLine(line.replace(":1,", ":2,")), { is: "newer", schemaVersion: 2 });
  assert.deepEqual(decodeLine(`${line.slice(0, -1)},"schemaVersion":2}`), { is: "newer", schemaVersion: 2 });
  for (const broken of [line.slice(0, -1), `${line}x`, `${line}}`, line.replace('"r"', '"\t"'), line.replace("{", "")])
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
