import assert from "node:assert/strict";
import { test } from "node:test";
import { decideUpsert, type RawUpsert, saidBy } from "../../../src/bridges/core/upsert.ts";
import { planRecord } from "../../testing/plan-record.ts";

const SOURCE = { system: "github", kind: "issue", id: "7" };
const record = planRecord("U", { id: "old-1", status: "active", source: SOURCE });
const upsert = (change: Partial<RawUpsert>): RawUpsert => ({ type: "upsert_plan", source: SOURCE, ...change });

const many = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join("");
/** Texts of up to 512 KB, each of which cost seconds once: read again at every place that asks, or in square time. */
const LARGE: Readonly<Record<string, () => string>> = {
  "boxes nested in each line": () => many(7500, () => `${"- ".repeat(31)}[ ] a\n`),
  "headings of marks": () =>
    `## Tasks\n\n${many(900, (n) => `### ${n} ${"*a_ ".repeat(100)}\n\n- [ ] a${n} ${"w ".repeat(60)}\n\n`)}`,
  "fences of task lists": () => many(9900, (n) => `\`\`\`[tasklist]\n- [ ] a${n} ${"w ".repeat(9)}\n\`\`\`\n`),
};
/** Half of it is for a machine that is at work on something else. */
const MAX_MS = 2000;

for (const [name, make] of Object.entries(LARGE)) {
  test(`no upsert of 512 KB takes a second: ${name}`, () => {
    const given = make();
    const said = saidBy({}, upsert({ planMarkdown: given })) ?? given;
    const before = process.threadCpuUsage();
    const changes = upsert({ planMarkdown: `${given}\nq\n`, base: `${given}\nr\n` });
    const text = `${said}\n\n## Progress Log\n\nstarted\n`;
    const now = { record, running: false, text, upserted: said };
    assert.notEqual(decideUpsert(now, changes).kind, "unchanged");
    saidBy(now, changes);
    const { user, system } = process.threadCpuUsage(before);
    assert(user + system < MAX_MS * 1000, `${(user + system) / 1000} ms`);
  });
}
