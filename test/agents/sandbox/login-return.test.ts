import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { claudeProgram } from "../../../src/agents/claude/program.ts";
import { keepLogins, returnLogins } from "../../../src/agents/sandbox/login-return.ts";
import { furnishHome } from "../../../src/agents/sandbox/private-home.ts";

const SPEC = { adapter: "claude", command: "claude" } as const;
const TO = ".claude/.credentials.json";
const login = (token: string): string =>
  JSON.stringify({ claudeAiOauth: { accessToken: `token-${token}`, expiresAt: 1000 } });

let base = "";
let users = "";
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "prloom-login-"));
  users = join(base, "user", TO);
  mkdirSync(dirname(users), { recursive: true });
  writeFileSync(users, login("first"), { mode: 0o640 });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

async function furnished(name: string): Promise<string> {
  const home = join(base, name);
  mkdirSync(home, { recursive: true });
  const items = [{ from: users, to: TO, kind: "login" as const }];
  const { logins } = await furnishHome({ home, overlays: join(base, `${name}-overlays`), items });
  keepLogins(home, SPEC, logins);
  return home;
}
const giveBack = (home: string): void =>
  returnLogins(home, ({ adapter }) => (adapter === "claude" ? claudeProgram.renewedLogin : undefined));
const now = (): string => readFileSync(users, "utf8");

test("a login that was renewed inside is the user's afterwards, again and again, with the rights it had", async () => {
  const home = await furnished("one");
  for (const token of ["second", "third"]) {
    writeFileSync(join(home, TO), login(token));
    giveBack(home);
    giveBack(home);
    assert.equal(now(), login(token));
  }
  assert.equal(statSync(users).mode & 0o777, 0o640);
});

test("of two that renewed it at once the first stays, and so does what the user did meanwhile", async () => {
  const [one, two] = [await furnished("one"), await furnished("two")];
  writeFileSync(join(one, TO), login("one"));
  writeFileSync(join(two, TO), login("two"));
  giveBack(one);
  giveBack(two);
  assert.equal(now(), login("one"));
  writeFileSync(users, login("user"));
  writeFileSync(join(one, TO), login("one-again"));
  giveBack(one);
  assert.equal(now(), login("user"));
});

test("what is not a renewal, a link, and a login that the user gave up leave everything as it is", async () => {
  const home = await furnished("one");
  const evil = JSON.stringify({ claudeAiOauth: { accessToken: "token-x", expiresAt: "later" }, hooks: "evil" });
  writeFileSync(join(home, TO), evil);
  giveBack(home);
  assert.equal(now(), login("first"));
  writeFileSync(join(base, "other"), login("other"));
  rmSync(join(home, TO));
  symlinkSync(join(base, "other"), join(home, TO));
  giveBack(home);
  assert.equal(now(), login("first"));
  rmSync(users);
  giveBack(home);
  assert.throws(now, /ENOENT/);
});

test("a home that nothing is known about, or only nonsense, gives nothing back", async () => {
  const home = await furnished("one");
  writeFileSync(join(home, TO), login("second"));
  writeFileSync(join(`${home}.beside`, "logins.json"), "{");
  giveBack(home);
  rmSync(join(`${home}.beside`, "logins.json"));
  giveBack(home);
  assert.equal(now(), login("first"));
});

test("where a home has no login any more, none is given back", async () => {
  const home = await furnished("one");
  keepLogins(home, SPEC, []);
  writeFileSync(join(home, TO), login("second"));
  giveBack(home);
  assert.equal(now(), login("first"));
});
