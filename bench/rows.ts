import { activate } from "./activate.ts";
import { agents } from "./agents.ts";
import { append } from "./append.ts";
import { brain } from "./brain.ts";
import { deferred } from "./deferred.ts";
import { github } from "./github.ts";
import type { Bench } from "./harness/result.ts";
import { hooks } from "./hooks.ts";
import { judge } from "./judge.ts";
import { latency } from "./latency.ts";
import { lifecycle } from "./lifecycle.ts";
import { oneRun } from "./one-run.ts";
import { parse } from "./parse.ts";
import { read } from "./read.ts";
import { recovery } from "./recovery.ts";
import { sandbox } from "./sandbox.ts";
import { scan } from "./scan.ts";
import { status } from "./status.ts";
import { tick } from "./tick.ts";
import { upsert } from "./upsert.ts";
import { work } from "./work.ts";

/** All benchmarks, in the order in which they run. */
export const BENCHES: readonly Bench[] = [
  tick,
  scan,
  read,
  append,
  recovery,
  upsert,
  latency,
  hooks,
  lifecycle,
  deferred,
  judge,
  brain,
  activate,
  work,
  oneRun,
  agents,
  sandbox,
  status,
  parse,
  github,
];
