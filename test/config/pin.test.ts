import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { configWithoutAgents } from "../../src/config/load.ts";
import { checkedConfig, type PinnedFile, pinOf, readPin, writePin } from "../../src/config/pin.ts";
import { sha256 } from "../../src/kernel/ids.ts";

const dir = mkdtempSync(join(tmpdir(), "prloom-pin-"));
after(() => rmSync(dir, { recursive: true, force: true }));
const file = join(dir, "pinned.json");
const origin = { pinnedAt: "2030-01-01T00:00:00.000Z", by: "start", branch: "main" } as const;
const config: PinnedFile = { path: "prloom/config.json", kind: "config", sha256: sha256("{}"), text: "{}" };
const module: PinnedFile = { path: "a.ts", kind: "module", sha256: sha256("a") };

test("a pin is read as it was written, and its digest is that of all files, in whatever order they come", () => {
  assert.equal(readPin(file), undefined);
  const pin = pinOf([config, module], origin);
  writePin(file, pin);
  assert.deepEqual(readPin(file), pin);
  assert.equal(pinOf([module, config], { ...origin, by: "reload" }).digest, pin.digest);
  assert.notEqual(pinOf([{ ...module, sha256: sha256("b") }, config], origin).digest, pin.digest);
});

test("one that is torn, was changed, or is of another version is not used", () => {
  writePin(file, pinOf([config, module], origin));
  const whole = readFileSync(file, "utf8");
  const spoiled = [
    whole.slice(0, -20),
    whole.replace('"text": "{}"', '"text": "{ }"'),
    whole.replace(sha256("a"), sha256("b")),
    whole.replace('"schemaVersion": 1', '"schemaVersion": 2'),
  ];
  for (const text of spoiled) {
    assert.notEqual(text, whole);
    writeFileSync(file, text);
    assert.throws(() => readPin(file), { code: "state-unreadable" });
  }
});

test("what a build has checked is kept, another one does not trust it, and one of another text is not used", () => {
  const meaning = configWithoutAgents();
  const checked = { build: "another", config: meaning, sha256: sha256(JSON.stringify([config.sha256, meaning])) };
  writePin(file, pinOf([config], { ...origin, checked }));
  const pin = readPin(file);
  assert.deepEqual(pin?.checked, checked);
  assert.equal(pin && checkedConfig(pin), undefined);
  const other = { ...config, text: "{ }", sha256: sha256("{ }") };
  writePin(file, pinOf([other], { ...origin, checked }));
  assert.throws(() => readPin(file), { code: "state-unreadable" });
});
