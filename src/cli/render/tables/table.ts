import { type Paint, plain, type Style } from "../colour.ts";
import { displayWidth, graphemes } from "./width.ts";

export interface Column {
  readonly header: string;
  /** Cut before others when the table is too wide. */
  readonly flexible?: boolean;
  /** Never cut while anything else is left to cut or to drop: what people must be able to type. */
  readonly whole?: boolean;
  readonly align?: "right";
}

/** A cell's text must be one line (see `visible`). */
export type Cell = string | { readonly text: string; readonly style: Style };

export interface TableOptions {
  /** No line is wider than this, whatever the cells hold. */
  readonly width: number;
  readonly paint?: Paint;
}

const GAP = 2;
/** Flexible columns stay readable as long as others have something to give. */
const NARROW = 20;
const NARROWEST = 6;

/** The text in at most `width` columns; what is cut off is shown by "…". */
export function cutToWidth(text: string, width: number): string {
  if (width <= 0) return "";
  // A character takes two columns at most, so a short text needs no measuring; a long one is measured only in part.
  const start = text.length > width * 16 ? text.slice(0, width * 16) : text;
  if (start === text && displayWidth(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const segment of graphemes(start)) {
    used += displayWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** The lines of a table with a header, shrunk to the width: flexible columns first, then others, then the last ones go. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions,
): string[] {
  const { width, paint = plain } = options;
  const texts = rows.map((row) => columns.map((_, index) => cellText(row[index] ?? "")));
  const natural = naturalWidths(columns, texts, width);
  const widths = fitWidths(columns, natural, width);
  const header = columns.map(({ header: text }) => ({ text, style: "dim" as const }));
  return [header, ...rows].map((row) => renderRow(row, { columns, widths, paint }));
}

function naturalWidths(columns: readonly Column[], texts: readonly (readonly string[])[], width: number): number[] {
  return columns.map((column, index) => {
    const widest = texts.reduce((most, row) => Math.max(most, cellWidth(row[index] ?? "", width)), 0);
    return Math.max(widest, displayWidth(column.header));
  });
}

/** What a cell says, whatever its colour. */
export function cellText(cell: Cell): string {
  return typeof cell === "string" ? cell : cell.text;
}

function cellWidth(text: string, width: number): number {
  return Number.isFinite(width) && text.length > width * 16 ? width : Math.min(displayWidth(text), width);
}

/** What a table could show, if there is room. */
export interface TableLayout {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
}

/** The first layout whose flexible columns stay readable at this width; the last one if there is none. */
export function fittingLayout(layouts: readonly [TableLayout, ...TableLayout[]], width: number): TableLayout {
  const isFitting = ({ columns, rows }: TableLayout): boolean => {
    const texts = rows.map((row) => columns.map((_, index) => cellText(row[index] ?? "")));
    const least = naturalWidths(columns, texts, width).map((one, index) =>
      columns[index]?.flexible ? Math.min(one, NARROW) : one,
    );
    return tableWidth(least) <= width;
  };
  return layouts.find(isFitting) ?? layouts.at(-1) ?? layouts[0];
}

/** Columns that would be too narrow to be read are dropped from the end. */
function fitWidths(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const least = natural.map((one, index) => (columns[index]?.whole ? one : Math.min(one, NARROWEST)));
  let count = columns.length;
  while (count > 1 && tableWidth(least.slice(0, count)) > width) count -= 1;
  const widths = natural.slice(0, count).map((one) => Math.max(1, one));
  const room = Math.max(1, width - GAP * (count - 1));
  const everyone = widths.map((_, index) => index);
  const flexible = everyone.filter((index) => columns[index]?.flexible === true);
  const cuttable = everyone.filter((index) => columns[index]?.whole !== true);
  shrink(widths, flexible, { room, least: NARROW });
  shrink(widths, cuttable, { room, least: NARROWEST });
  shrink(widths, everyone, { room, least: 1 });
  return widths;
}

/** Columns of the terminal that a table with columns of these widths takes. */
export function tableWidth(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one, 0) + GAP * Math.max(0, widths.length - 1);
}

/** Takes from the widest of the named columns until all fit into the room or each has come down to the least. */
function shrink(widths: number[], among: readonly number[], limits: { room: number; least: number }): void {
  let excess = widths.reduce((sum, one) => sum + one, 0) - limits.room;
  while (excess > 0) {
    const widest = among.reduce(
      (best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best),
      among[0] ?? -1,
    );
    const most = widths[widest] ?? 0;
    if (most <= limits.least) return;
    const next = among.reduce((second, index) => (index === widest ? second : Math.max(second, widths[index] ?? 0)), 0);
    const step = Math.min(excess, most - limits.least, Math.max(1, most - next));
    widths[widest] = most - step;
    excess -= step;
  }
}

interface RowStyle {
  readonly columns: readonly Column[];
  readonly widths: readonly number[];
  readonly paint: Paint;
}

function renderRow(row: readonly Cell[], { columns, widths, paint }: RowStyle): string {
  let line = "";
  let pending = "";
  for (const [index, width] of widths.entries()) {
    const cell = row[index] ?? "";
    const text = cutToWidth(cellText(cell), width);
    const padding = " ".repeat(Math.max(0, width - displayWidth(text)));
    const shown = typeof cell === "string" || text === "" ? text : paint(cell.style, text);
    const right = columns[index]?.align === "right";
    if (text !== "") {
      line += pending + (right ? padding : "") + shown;
      pending = right ? "" : padding;
    } else pending += padding;
    pending += " ".repeat(GAP);
  }
  return line;
}

/** A bar of `size` characters that shows how much is done. */
export function progressBar(completed: number, total: number, size: number): string {
  if (total <= 0) return "";
  const full = Math.floor((Math.min(completed, total) / total) * size);
  return "█".repeat(full) + "░".repeat(size - full);
}
