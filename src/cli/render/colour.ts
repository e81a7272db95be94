import { styleText } from "node:util";
import type { Environment } from "../../kernel/system/environment.ts";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "cyan" | "magenta";
export type Paint = (style: Style, text: string) => string;

/** How what the dispatcher reports is painted. */
export const LEVEL_STYLES: Readonly<Record<"info" | "good" | "warn" | "bad", Style | undefined>> = {
  info: undefined,
  good: "green",
  warn: "yellow",
  bad: "red",
};

/** Leaves the text as it is: for files, pipes and people who set NO_COLOR. */
export const plain: Paint = (_style, text) => text;

export const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });

/** Colours only on a terminal that has them, unless the user set NO_COLOR. */
export function paintFor(stream: NodeJS.WriteStream, env: Environment): Paint {
  const wanted = stream.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  return wanted ? coloured : plain;
}
