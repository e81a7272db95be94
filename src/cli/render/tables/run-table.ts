import type { PlanDetail } from "../../../dispatcher/report/read.ts";
import type { Output } from "../../output.ts";
import type { Style } from "../colour.ts";
import { firstLine, visible } from "../safe-text.ts";
import { dollars, tokensInWords } from "../spending.ts";
import { ageOf, shortDuration } from "../time.ts";
import { type Cell, type Column, cellText, tableWidth } from "./table.ts";
import { displayWidth } from "./width.ts";

type Run = PlanDetail["runs"][number];

interface RunColumn extends Column {
  /** Left out when it would be empty for every run: programs that are only started tell nothing of themselves. */
  readonly optional?: boolean;
  cell(run: Run, detail: PlanDetail, now: number): Cell;
}

const countOf = (number: number): string => (number === 0 ? "" : String(number));
const sum = (calls: Readonly<Record<string, number>>): number =>
  Object.values(calls).reduce((total, one) => total + one, 0);

const COLUMNS: readonly RunColumn[] = [
  { header: "RUN", align: "right", cell: ({ run }) => String(run) },
  { header: "STAGE", cell: ({ stage, resolves }) => (resolves ? `${stage}, conflict` : stage) },
  { header: "AGENT", cell: ({ agent }) => visible(agent) },
  { header: "ATTEMPT", align: "right", cell: ({ attempt }) => String(attempt) },
  { header: "LEVEL", optional: true, cell: ({ level }) => level ?? "" },
  { header: "TURNS", align: "right", optional: true, cell: ({ turns }) => countOf(turns) },
  { header: "TOOLS", align: "right", optional: true, cell: ({ tools }) => countOf(sum(tools)) },
  {
    header: "TOKENS",
    align: "right",
    optional: true,
    cell: ({ tokens }) => (tokens === 0 ? "" : tokensInWords(tokens)),
  },
  { header: "COST", align: "right", optional: true, cell: ({ usd }) => (usd === undefined ? "" : dollars(usd)) },
  { header: "STARTED", align: "right", cell: ({ startedAt }, _detail, now) => `${ageOf(startedAt, now)} ago` },
  {
    header: "TOOK",
    align: "right",
    cell: ({ exit }) => (exit ? shortDuration(Date.parse(exit.endedAt) - Date.parse(exit.startedAt)) : ""),
  },
  { header: "ENDED", flexible: true, cell: endCell },
];

/** What makes room in a narrow terminal, the first first; `--json` has it all. */
const GIVE_WAY = ["LEVEL", "TOOLS", "TURNS", "ATTEMPT", "STARTED"];
/** How a run ended stays at least this readable. */
const LEAST_END = 16;

/** The runs of a plan: what each was, did, cost and came to. */
export function runTable(output: Output, detail: PlanDetail, now: number): void {
  const rows = detail.runs.map((run) => COLUMNS.map((column) => column.cell(run, detail, now)));
  const widths = COLUMNS.map(({ header, flexible }, index) => {
    const widest = rows.reduce((most, row) => Math.max(most, displayWidth(cellText(row[index] ?? ""))), header.length);
    return flexible ? Math.min(widest, LEAST_END) : widest;
  });
  let shown = COLUMNS.map(({ optional }, index) => !optional || rows.some((row) => row[index] !== ""));
  for (const header of GIVE_WAY) {
    if (tableWidth(widths.filter((_, index) => shown[index])) <= output.width()) break;
    shown = shown.map((is, index) => is && COLUMNS[index]?.header !== header);
  }
  output.table(
    COLUMNS.filter((_, index) => shown[index]),
    rows.map((row) => row.filter((_, index) => shown[index])),
  );
}

function endCell(run: Run, detail: PlanDetail): Cell {
  const refused = run.exit !== undefined && wasRefused(run, detail);
  return { text: `${firstLine(endOf(run))}${refused ? ", not accepted" : ""}`, style: endStyle(run, refused) };
}

/**
 * Whether it is on record that what a run left was not accepted: the next run of its kind is a further attempt, or the
 * plan waits for one. Attempts are counted per TODO, so a higher number is about the same TODO.
 */
function wasRefused(run: Run, { runs: all, record }: PlanDetail): boolean {
  const next = all.find((other) => other.run > run.run && other.stage === run.stage && other.resolves === run.resolves);
  if (next) return next.attempt === run.attempt + 1 || wasStartedOver(run, next);
  const ofWorker = (record.rebase !== undefined) === (run.resolves === true) ? record.current : undefined;
  const awaited = run.stage === "worker" ? ofWorker : record.side?.stage === run.stage ? record.side : undefined;
  if (!awaited || awaited.run <= run.run) return false;
  return awaited.missing !== undefined || record.blocked?.cause === "step";
}

/**
 * A person let it be tried again after its last attempt: the count began anew. One that its provider failed was not an attempt; of a
 * TODO that conflicts once more, in a later rebase, it is not known.
 */
function wasStartedOver(run: Run, next: Run): boolean {
  const isSame = run.stage === "worker" && !run.resolves && next.about !== undefined && next.about === run.about;
  return isSame && next.attempt <= run.attempt && run.errors.length === 0;
}

function endStyle({ state, exit }: Run, refused: boolean): Style {
  if (state === "working" || refused) return "yellow";
  return exit?.code === 0 ? "green" : "red";
}

function endOf({ state, exit }: Run): string {
  if (!exit) return state === "working" ? "still working" : "interrupted";
  if (exit.reason === "deadline") return "took too long";
  if (exit.reason === "silence") return "was silent too long";
  if (exit.reason === "refused") return "was refused by its provider";
  if (exit.reason === "policy") return `ended by the policy: ${exit.error ?? "no reason is known"}`;
  if (exit.reason === "spawn-failed") return `could not be started: ${exit.error ?? "no reason is known"}`;
  return exit.signal ? `ended by ${exit.signal}` : `exit ${exit.code ?? "?"}`;
}
