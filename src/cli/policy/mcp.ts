import { serveTools } from "../../hosts/mcp/server.ts";
import { GOVERNANCE_VARIABLES } from "../../hosts/run-governance.ts";
import { PrloomError } from "../../kernel/errors.ts";

/** What an agent program starts in a run of prloom, to get its tools. */
export async function mcp(): Promise<number> {
  const folder = process.env[GOVERNANCE_VARIABLES.folder];
  if (!folder)
    throw new PrloomError(
      "usage",
      "This command is started by agent programs that prloom runs, and this is not such a run.",
      "`prloom start` runs agents; `prloom explain` tells what they may do.",
    );
  await serveTools(folder, process.stdin, process.stdout);
  return 0;
}
