/**
 * Measures prloom against what the same work costs without it: `npm run bench`, or some rows by name. Prints a table and
 * writes JSON. Ends with 0 whatever the numbers are; the counts are asserted by test/bench.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { tableOf, writeJson } from "./harness/report.ts";
import type { Result, Sizes } from "./harness/result.ts";
import { BENCHES } from "./rows.ts";

const USAGE = `Usage: npm run bench -- [row ...] [options]
Rows: ${BENCHES.map(({ name }) => name).join(", ")}
  --plans <n>    plans in the repository (1000; with --full 10000)
  --events <n>   events in the log (100000; with --full 1000000)
  --worked <n>   plans that are worked through (40; with --full 200)
  --hooked <n>   events that go through three plugins (5000; with --full 100000)
  --upserts <n>  plans that are made from sources (500; with --full 5000)
  --deferred <n> records that wait (10000)
  --agents <n>   agents that print at the same time (20)
  --streamed <n> lines that each of them prints, twenty a second (100)
  --todos <n>    TODOs of the long plan (1000)
  --pairs <n>    how often floor and ours are measured (11)
  --source       measure the CLI as source, without building it
  --json <file>  where to write what was measured (bench/results/<date>.json)`;

const SOURCE = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    plans: { type: "string" },
    events: { type: "string" },
    worked: { type: "string" },
    hooked: { type: "string" },
    upserts: { type: "string" },
    deferred: { type: "string" },
    agents: { type: "string" },
    streamed: { type: "string" },
    todos: { type: "string" },
    pairs: { type: "string" },
    full: { type: "boolean", default: false },
    source: { type: "boolean", default: false },
    json: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

function number(text: string | undefined, otherwise: number): number {
  const value = Number(text ?? otherwise);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${text} is not a whole number of 1 or more\n${USAGE}`);
  return value;
}

async function main(): Promise<void> {
  const unknown = positionals.filter((name) => !BENCHES.some((bench) => bench.name === name));
  if (unknown.length > 0) throw new Error(`There is no row called ${unknown.join(", ")}.\n${USAGE}`);
  const sizes: Sizes = {
    plans: number(values.plans, values.full ? 10_000 : 1000),
    events: number(values.events, values.full ? 1_000_000 : 100_000),
    worked: number(values.worked, values.full ? 200 : 40),
    hooked: number(values.hooked, values.full ? 100_000 : 5000),
    upserts: number(values.upserts, values.full ? 5000 : 500),
    deferred: number(values.deferred, 10_000),
    agents: number(values.agents, 20),
    streamed: number(values.streamed, 100),
    todos: number(values.todos, 1000),
    pairs: number(values.pairs, 11),
    files: 5000,
    cli: values.source ? SOURCE : "built",
  };
  const at = new Date().toISOString();
  const results: Result[] = [];
  for (const bench of BENCHES) {
    if (positionals.length > 0 && !positionals.includes(bench.name)) continue;
    const missing = await bench.missing?.();
    process.stderr.write(`${bench.name} ${missing === undefined ? "…" : `is left out: ${missing}`}\n`);
    if (missing !== undefined) continue;
    try {
      results.push(...(await bench.run(sizes)));
    } catch (error) {
      // The others have taken minutes: what they found is still told.
      console.error(error);
      process.exitCode = 1;
    }
  }
  for (const line of tableOf(results)) console.log(line);
  const name = `${at.replaceAll(":", "-").slice(0, 19)}.json`;
  const file = values.json ?? fileURLToPath(new URL(join("results", name), import.meta.url));
  writeJson(file, { at, sizes, results });
  console.log(`\nwritten to ${file}`);
}

if (values.help) console.log(USAGE);
else await main();
