import { parseArgs } from "node:util";
import { countWords } from "./count.js";

const OPTIONS = {
  help: { type: "boolean", about: "show this help" },
};

/** What the program prints for these arguments; `read` gives the text of a file, or of stdin without one. */
export function run(args, read) {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  if (values.help) return help();
  const text = read(positionals[0]);
  return `${countWords(text)} words`;
}

function help() {
  const lines = Object.entries(OPTIONS).map(([name, { type, about }]) => {
    const flag = `--${name}${type === "string" ? " <n>" : ""}`;
    return `  ${flag.padEnd(14)}${about}`;
  });
  return ["Usage: tally [flags] [file]", "", ...lines].join("\n");
}
