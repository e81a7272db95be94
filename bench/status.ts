import { measurePairs, timed } from "./harness/measure.ts";
import { prepareCli, run, runCounted } from "./harness/programs.ts";
import { addRestingPlans, inFolder, makeProject } from "./harness/project.ts";
import { type Bench, result } from "./harness/result.ts";

export const status: Bench = {
  name: "status",
  run: (sizes) =>
    inFolder(async (dir) => {
      const cli = prepareCli(dir, sizes);
      const project = makeProject(dir);
      addRestingPlans(project, sizes.plans);
      const inside = { cwd: project.root, env: project.env };
      await run(process.execPath, [cli, "start", "--until-idle", "--json"], inside);
      const counts = await runCounted(project, cli, ["status"]);
      const times = await measurePairs({
        floor: () => timed(() => run(process.execPath, ["-e", "0"], inside)),
        ours: () => timed(() => run(process.execPath, [cli, "status"], inside)),
        pairs: sizes.pairs,
      });
      const inInbox = Math.ceil(sizes.plans / 2);
      return [
        result({
          name: "status",
          what: `prloom status (${sizes.cli === "built" ? "built" : "not built"}), ${sizes.plans} plans`,
          floorIs: "node -e 0",
          gates: [
            // Config, the two indexes, and the inbox's json files.
            { what: "opened", counted: counts.opened, most: 10 + inInbox },
            { what: "git started", counted: counts.started.git ?? 0, most: 0 },
            { what: "writes", counted: counts.written, most: 0 },
            // Only a bundle can do without.
            { what: "schema library loaded", counted: Number(counts.schemas), most: sizes.cli.endsWith(".ts") ? 1 : 0 },
          ],
          budget: { ms: 150 },
          times,
        }),
      ];
    }),
};
