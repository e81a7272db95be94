import { activate } from "./activate.ts";
import { append } from "./append.ts";
import type { Bench } from "./harness/result.ts";
import { parse } from "./parse.ts";
import { read } from "./read.ts";
import { recovery } from "./recovery.ts";
import { scan } from "./scan.ts";
import { status } from "./status.ts";
import { tick } from "./tick.ts";
import { work } from "./work.ts";

/** All benchmarks, in the order of DESIGN section 19. */
export const BENCHES: readonly Bench[] = [tick, scan, read, append, recovery, activate, work, status, parse];
