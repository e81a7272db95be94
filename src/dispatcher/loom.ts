import type { Bridging } from "./buses/bridging.ts";
import type { Buses } from "./buses/buses.ts";
import type { Extended } from "./buses/extensions.ts";
import type { Naming, Publishing, Reporting, Stopping, Waking } from "./capabilities.ts";
import type { Gated } from "./gates/gate-store.ts";
import type { Intake } from "./intake/intake.ts";
import type { Located } from "./paths.ts";
import type { Records } from "./records.ts";
import type { Pooled } from "./runs/agent-pool.ts";
import type { AtWork } from "./runs/occupancy.ts";
import type { Configured } from "./settings/pinned.ts";
import type { Watched } from "./watchdog/stalls.ts";

/**
 * One opened repository: every capability there is. Only what puts it together, the loops at the top and the table of
 * commands take all of it; everything else says which parts it needs.
 */
export interface Loom
  extends Located,
    Naming,
    Configured,
    Reporting,
    Stopping,
    Waking,
    Records,
    Gated,
    Intake,
    Buses,
    Extended,
    Bridging,
    Publishing,
    Pooled,
    AtWork,
    Watched {
  /** Writes what makes the next start cheap. Worth it for a dispatcher that ends, not for one command. */
  saveCaches(): void;
  close(): void;
}
