import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { nextId, overseen, STATUS } from "./overseen.ts";

describe("a run that is judged from outside of its program", () => {
  test("has what a script changed in protected files put back, is told, and may not run it again", async () => {
    const { overseer, files, asks, calls } = await overseen();
    await overseer.settled();
    const callId = nextId();
    const input = { command: "sh src/script.sh" };
    assert.equal(await asks("Bash", input, { callId }), "allowed");
    mkdirSync(join(files.root, ".claude"));
    writeFileSync(join(files.root, ".claude", "settings.json"), "{}");
    const { note } = await overseer.tell({ kind: "ended", callId, ok: true });
    assert.match(note ?? "", /changed \.claude\/settings\.json.*as it was again/);
    assert(!existsSync(join(files.root, ".claude", "settings.json")));
    assert.match(await asks("Bash", input), /GOVERNANCE BLOCK[\s\S]*when it was made before/);
    await overseer.settled();
    assert.match((await calls(...STATUS)) ?? "", /settings\.json/);
  });

  test("has protected files put back, and is told, after a call that nothing is known about as well", async () => {
    const { overseer, files } = await overseen();
    await overseer.settled();
    writeFileSync(join(files.root, "opencode.json"), "{}");
    const { note } = await overseer.tell({ kind: "ended", callId: nextId(), ok: false });
    assert.match(note ?? "", /opencode\.json changed .*as it was again\./);
    assert(!existsSync(join(files.root, "opencode.json")));
  });

  test("is not denied what cannot have changed them: a script still runs, or another call is made at once", async () => {
    const { overseer, files, asks } = await overseen();
    await overseer.settled();
    for (const [tool, input] of [
      ["Write", { file_path: "src/a.ts", content: "x" }],
      ["Bash", { command: "sleep 2; ls src" }],
    ] as const) {
      const callId = nextId();
      assert.equal(await asks(tool, input, { callId }), "allowed");
      writeFileSync(join(files.root, "opencode.json"), "{}");
      const { note } = await overseer.tell({ kind: "ended", callId, ok: true });
      assert.match(note ?? "", /opencode\.json changed with this call or shortly before it.*as it was again\./);
      assert(!existsSync(join(files.root, "opencode.json")));
      assert.equal(await asks(tool, input), "allowed");
    }
  });

  test("goes on where more was changed than is put back soon, is told with the next answer, and may not do it again", async (t) => {
    const removes = Promise.withResolvers<void>();
    const { overseer, files, asks } = await overseen({}, { removes: removes.promise });
    await overseer.settled();
    const [callId, next] = [nextId(), nextId()];
    const input = { command: "sh src/script.sh" };
    await asks("Bash", input, { callId });
    writeFileSync(join(files.root, "opencode.json"), "{}");
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const told = overseer.tell({ kind: "ended", callId, ok: true });
    for (const ms of [4000, 1000]) {
      await setImmediate();
      t.mock.timers.tick(ms);
    }
    assert.deepEqual(await told, {});
    t.mock.timers.reset();
    assert.equal(await asks("Bash", { command: "make" }, { callId: next }), "allowed");
    removes.resolve();
    await overseer.settled();
    assert.match(await asks("Bash", input), /when it was made before/);
    const { note } = await overseer.tell({ kind: "ended", callId: next, ok: true });
    assert.match(note ?? "", /opencode\.json changed .*as it was again/);
    assert(!existsSync(join(files.root, "opencode.json")));
  });

  describe("that goes on while what a call did is found out", () => {
    /** A first call that is over, and a second one that is under way when it is looked what the first one changed. */
    async function twoCalls(changes: string) {
      let listing = Promise.withResolvers<readonly string[]>();
      listing.resolve([]);
      const governance = { protected: ["**/deploy.yml"] };
      const { overseer, files, asks } = await overseen({ governance }, { git: () => listing.promise });
      await overseer.settled();
      listing = Promise.withResolvers();
      const [first, second] = [nextId(), nextId()];
      await asks("Bash", { command: "make" }, { callId: first });
      await overseer.tell({ kind: "ended", callId: first, ok: true });
      await asks("Bash", { command: "sh src/script.sh" }, { callId: second });
      writeFileSync(join(files.root, changes), "x");
      listing.resolve([`? ${changes}`]);
      await overseer.settled();
      const { note = "" } = await overseer.tell({ kind: "ended", callId: second, ok: true });
      assert(!existsSync(join(files.root, changes)), changes);
      assert.equal(await asks("Bash", { command: "make" }), "allowed", "it was another call");
      return { note, asks, overseer };
    }

    test("has what the next call changes put back after that one, which may not be made again", async () => {
      const { note, asks } = await twoCalls("opencode.json");
      assert.match(note, /this changed opencode\.json.*the same call is denied/);
      assert.match(await asks("Bash", { command: "sh src/script.sh" }), /when it was made before/);
    });

    test("is told with the next answer what was put back meanwhile, once", async () => {
      const { note, asks, overseer } = await twoCalls("src/deploy.yml");
      assert.match(note, /src\/deploy\.yml.*as it was again/);
      const callId = nextId();
      await asks("Read", { file_path: "src/a.ts" }, { callId });
      assert.deepEqual(await overseer.tell({ kind: "ended", callId, ok: true }), {});
    });
  });
});
