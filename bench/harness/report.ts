import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname } from "node:path";
import { renderTable } from "../../src/cli/render/tables/table.ts";
import type { Also, Budget, Result, Sizes } from "./result.ts";

const COLUMNS = [
  { header: "what" },
  { header: "counts" },
  { header: "ours", align: "right" as const },
  { header: "floor", align: "right" as const },
  { header: "ratio", align: "right" as const },
  { header: "noise", align: "right" as const },
  { header: "budget" },
  { header: "verdict" },
];

/** The lines of the table, counts before times. */
export function tableOf(results: readonly Result[]): string[] {
  const rows = results.map((one) => [
    `${one.name}: ${one.what}`,
    one.gates.map(({ what, counted, most }) => `${what} ${counted}${counted <= most ? "" : ` (> ${most})`}`).join(", "),
    oursText(one),
    milliseconds(one.times.floor.median),
    one.times.ratio.toFixed(2),
    `${one.times.noise.low.toFixed(2)}–${one.times.noise.high.toFixed(2)}`,
    budgetText(one.budget),
    one.verdict,
  ]);
  return renderTable(COLUMNS, rows, { width: Number.POSITIVE_INFINITY });
}

function oursText({ times, budget, per, also = [] }: Result): string {
  const { median, p99 } = times.ours;
  const slowest = budget.p99 === undefined ? "" : `, p99 ${milliseconds(p99)}`;
  const rate = per === undefined ? "" : `, ${Math.round((per / median) * 1000)} a second`;
  const parts = also.length === 0 ? "" : ` (${also.map(alsoText).join(", ")})`;
  return `${milliseconds(median)}${slowest}${rate}${parts}`;
}

function alsoText({ what, value, unit }: Also): string {
  return `${what} ${unit === "ms" ? milliseconds(value) : `${Math.round(value)} ${unit}`.trimEnd()}`;
}

function milliseconds(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return ms >= 10 ? `${ms.toFixed(1)} ms` : `${ms.toFixed(3)} ms`;
}

function budgetText({ ratio, ms, p99, above }: Budget): string {
  const parts = [
    ...(ratio === undefined ? [] : [`≤ ${ratio} × floor`]),
    ...(ms === undefined ? [] : [`≤ ${milliseconds(ms)}`]),
    ...(p99 === undefined ? [] : [`p99 ≤ ${milliseconds(p99)}`]),
    ...(above === undefined ? [] : [`≤ floor + ${above} ms`]),
  ];
  return parts.length === 0 ? "none" : parts.join(", ");
}

/** Writes everything that was measured, with what it was measured on. */
export function writeJson(file: string, measured: { at: string; sizes: Sizes; results: readonly Result[] }): void {
  const machine = { node: process.version, platform: process.platform, cores: cpus().length, cpu: cpus()[0]?.model };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...measured, machine }, null, 2)}\n`);
}
