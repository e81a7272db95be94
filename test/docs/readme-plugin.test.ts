import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadPlugins } from "../../src/hooks/modules/load-plugins.ts";
import { offerEvent } from "../../src/hooks/offer-event.ts";
import { event, inTemporary, openWorld } from "../hooks/fixture.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const code = /```ts\n(import \{ definePlugin \}[\s\S]*?)```/.exec(readme)?.[1] ?? assert.fail("README shows no plugin");

test("README's plugin has ten lines, merges where it was asked, and leaves alone what has no address", () =>
  inTemporary(async (dir) => {
    assert.ok(code.trim().split("\n").length <= 10);
    writeFileSync(join(dir, "merge.ts"), code);
    const entries = [{ name: "merge", module: "./merge.ts", config: {} }];
    const plugins = await loadPlugins({ repoRoot: dir, kind: "plan", entries });
    const world = openWorld(dir);
    const { replyTo: _replyTo, ...silent } = event("silent", { body: "/merge" });
    for (const given of [event("asked", { body: " /merge\n" }), event("other", { body: "merge?" }), silent]) {
      world.bus("p1").appendEvents([given]);
      await offerEvent(world.services, world.scope("p1"), { plugins, event: given, moveCursor: true });
    }
    const outcomes = world.settlements("p1").map(({ record, outcome }) => [record, outcome]);
    assert.deepEqual(outcomes, [
      ["asked", "handled"],
      ["other", "passed"],
      ["silent", "passed"],
    ]);
    assert.deepEqual(
      world.actions("p1").map(({ payload, target }) => [payload.type, target.target]),
      [["merge", "local"]],
    );
  }));
