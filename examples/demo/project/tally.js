#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { run } from "./src/program.js";

try {
  console.log(run(process.argv.slice(2), (file) => readFileSync(file ?? 0, "utf8")));
} catch (error) {
  console.error(`tally: ${error.message}`);
  process.exitCode = 1;
}
