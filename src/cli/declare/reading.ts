import { type Command, Option } from "commander";
import { LOG_NAMES } from "../../bus/ports.ts";
import type { PlanStatus } from "../../plan/record.ts";
import type { SceneOptions } from "../policy/scene.ts";
import type { DiffOptions } from "../reading/diff.ts";
import type { EventsOptions } from "../reading/events.ts";
import type { LogsOptions } from "../reading/logs.ts";
import type { StatusOptions } from "../reading/status-lines.ts";
import { declare, durationArgument, type JsonOption, performCommand, wholeNumber } from "./declare.ts";

/** Written out again, because the record's own list comes with the whole schema library, and `--help` is to be quick. */
const STATUSES: Readonly<Record<PlanStatus, true>> = {
  draft: true,
  queued: true,
  active: true,
  triaging: true,
  review: true,
  done: true,
};

/** Commands that only look: status, show, diff, tasks, anchors, logs, events, rules, explain. */
export function declareReading(program: Command): void {
  declare(program, "status", {
    about: "all plans, how far they are, what they wait for, and how the agents are doing",
    examples: [
      "status",
      "status --all",
      "status --status review",
      "status --stale 2h",
      "status --watch",
      "status --json",
    ],
  })
    .alias("ls")
    .option("-a, --all", "include plans that are done")
    .addOption(new Option("--status <status>", "only plans with this status").choices(Object.keys(STATUSES)))
    .option("--stale <duration>", "only plans in which nothing has happened for this long", durationArgument)
    .option(
      "-w, --watch",
      "keep showing what changes until interrupted; a line per change where there is no terminal, with --json an object",
    )
    .action((options: StatusOptions & { watch?: boolean } & JsonOption) =>
      performCommand(options, async (call) =>
        options.watch
          ? (await import("../reading/watch-status.ts")).watchStatus(call, options)
          : (await import("../reading/status.ts")).status(call, options),
      ),
    );
  declare(program, "show", {
    about: "everything about one plan: TODOs, runs and what they cost, commits, conversation, and why it is blocked",
    examples: ["show add-a-login-page", "show add-a-login-page --json"],
  })
    .argument("<plan>", "its id")
    .action((plan: string, options: JsonOption) =>
      performCommand(options, async (call) => (await import("../reading/show.ts")).show(call, plan)),
    );
  declare(program, "diff", {
    about:
      "what a plan has changed, or one TODO of it, in your pager; as a patch where it is not printed to a terminal",
    examples: ["diff add-a-login-page", "diff add-a-login-page --todo 2", "diff add-a-login-page --stat"],
  })
    .argument("<plan>", "its id")
    .option("--todo <number>", "only what was committed for this TODO", wholeNumber(1))
    .option("--stat", "only the files, and how many lines")
    .action((plan: string, options: DiffOptions & JsonOption) =>
      performCommand(options, async (call) => (await import("../reading/diff.ts")).diff(call, plan, options)),
    );
  declare(program, "tasks", {
    about: "a plan's TODOs as tasks: what each waits for, what agents did for it, and what they handed to others",
    examples: ["tasks add-a-login-page", "tasks add-a-login-page --json"],
  })
    .argument("<plan>", "its id")
    .action((plan: string, options: JsonOption) =>
      performCommand(options, async (call) => (await import("../reading/tasks.ts")).tasks(call, plan)),
    );
  declare(program, "anchors", {
    about: "what a plan's agents want to be known later, the most important first",
    examples: ["anchors add-a-login-page"],
  })
    .argument("<plan>", "its id")
    .action((plan: string, options: JsonOption) =>
      performCommand(options, async (call) => (await import("../reading/tasks.ts")).anchors(call, plan)),
    );
  declareLogs(program);
  declareEvents(program);
  declarePolicy(program);
}

function declareLogs(program: Command): void {
  declare(program, "logs", {
    about:
      "what an agent did and said, and what the checks of its work printed; of the newest run, unless told otherwise",
    examples: [
      "logs add-a-login-page",
      "logs add-a-login-page --follow",
      "logs add-a-login-page --run 2 --tail 50",
      "logs add-a-login-page --raw",
    ],
  })
    .argument("<plan>", "its id")
    .option("--run <number>", "which run", wholeNumber(1))
    .option(
      "-f, --follow",
      "keep following, into the next runs too, until the plan rests; with --run until that run ends",
    )
    .option("--tail <lines>", "only the last lines", wholeNumber(0))
    .option("--raw", "what the program printed, byte for byte, instead of what it means")
    .action((plan: string, options: LogsOptions & JsonOption) =>
      performCommand(options, async (call) => (await import("../reading/logs.ts")).logs(call, plan, options)),
    );
}

function declareEvents(program: Command): void {
  declare(program, "events", {
    about:
      "what came in for a plan, or for the repository, and what became of it; --json prints the records as they are",
    examples: ["events", "events add-a-login-page", "events add-a-login-page --log settled --limit 10"],
  })
    .argument("[plan]", "its id; without one: the repository's bus")
    .addOption(new Option("--log <log>", "which journal").choices(LOG_NAMES).default("events"))
    .option("--limit <number>", "only the newest ones", wholeNumber(1))
    .option("-f, --follow", "keep following until interrupted; with --json one object per line")
    .action((plan: string | undefined, options: EventsOptions & JsonOption) =>
      performCommand(options, async (call) => (await import("../reading/events.ts")).events(call, plan, options)),
    );
}

function declarePolicy(program: Command): void {
  declare(program, "gates", {
    about: "plans that wait for an answer before they are implemented: for whom, and for how long",
    examples: ["gates", "gates --json"],
  }).action((options: JsonOption) =>
    performCommand(options, async (call) => (await import("../reading/gates.ts")).gates(call)),
  );
  declare(program, "rules", {
    about: "the rules that allow or deny what an agent does, in their order, and what each is for",
    examples: ["rules", "rules --json"],
  }).action((options: JsonOption) =>
    performCommand(options, async (call) => (await import("../policy/rules.ts")).rules(call)),
  );
  declare(program, "explain", {
    about:
      "what the policy says to one call of a tool, and why; nothing is run. Ends with 0 whether it is allowed or not",
    examples: [
      'explain shell "git push --force"',
      "explain write src/a.ts --role investigator",
      "explain shell npm test --plan add-a-login-page",
      `explain Bash '{"command": "rm -rf build"}' --json`,
      'explain answer "lgtm"',
      "prloom explain --batch < calls.jsonl",
    ],
  })
    .argument(
      "[tool]",
      "read, search, write, edit, shell, delegate, web, or a tool as an agent program calls it; or answer, for what a comment would decide at a gate",
    )
    .argument("[args...]", "its arguments: a command, a path, or all of them as one JSON object")
    .option("--plan <id>", "in the worktree of this plan, for the TODO that is next; else in this repository, for any")
    .option(
      "--role <role>",
      "who asks: executor (unless the TODO says otherwise), investigator, coordinator, or your own",
    )
    .option(
      "--batch",
      'read {"tool", "input", "role"?, "plan"?} or {"answer"} from each line of standard input; one verdict per line',
    )
    // Those of the command that is asked about.
    .allowUnknownOption()
    .action((tool: string | undefined, args: string[], options: SceneOptions & { batch?: boolean } & JsonOption) =>
      performCommand(options, async (call) => {
        const words = tool === undefined ? [] : [tool, ...args];
        if (options.batch) return (await import("../policy/explain-batch.ts")).explainBatch(call, words, options);
        return (await import("../policy/explain.ts")).explain(call, words, options);
      }),
    );
  declare(program, "mcp", {
    about: "prloom's tools for an agent program in a run of prloom, which starts it by itself: an MCP server on stdio",
    examples: ["mcp"],
    hidden: true,
  }).action((options: JsonOption) => performCommand(options, async () => (await import("../policy/mcp.ts")).mcp()));
}
