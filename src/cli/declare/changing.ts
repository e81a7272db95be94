import type { Command } from "commander";
import type { ChangeOptions, PlainChange } from "../changing/change.ts";
import { declare, type JsonOption, performCommand } from "./declare.ts";

const PLAIN: Readonly<Record<PlainChange, string>> = {
  queue: "let work on plans start, as soon as a place is free",
  hide: "keep plans from starting; one that is active stops after its current TODO",
  unhide: "undo hide",
  pause: "start no further step of plans; an agent that is running may finish, unless --now ends it",
  resume: "undo pause",
};

/** Commands that change a plan's state and say nothing else. */
export function declareChanging(program: Command): void {
  for (const [name, about] of Object.entries(PLAIN) as [PlainChange, string][]) {
    const examples = [`${name} add-a-login-page`, `${name} first-plan second-plan`];
    const isForAll = name === "pause" || name === "resume";
    const command = declare(program, name, { about, examples: isForAll ? [...examples, `${name} --all`] : examples });
    command.argument(isForAll ? "[plans...]" : "<plans...>", "their ids");
    if (isForAll) command.option("--all", name === "pause" ? "each plan that is not done" : "each plan that is paused");
    if (name === "pause") command.option("--now", "end its agent, which goes on after `prloom resume`");
    command.action((plans: string[], options: ChangeOptions & JsonOption) =>
      performCommand(options, async (call) =>
        (await import("../changing/change.ts")).changePlans(call, name, { plans, ...options }),
      ),
    );
  }
  declare(program, "block", {
    about: "stop a plan, with a reason",
    examples: ['block add-a-login-page "waits for the designer"'],
  })
    .argument("<plan>", "its id")
    .argument("<reason...>", "why")
    .action((plan: string, reason: string[], options: JsonOption) =>
      performCommand(options, async (call) =>
        (await import("../changing/block.ts")).block(call, plan, reason.join(" ")),
      ),
    );
  declare(program, "unblock", {
    about: "clear the reason and retry what it stopped; agents that wait for a provider are tried at once",
    examples: ["unblock add-a-login-page", "unblock first-plan second-plan --reset"],
  })
    .argument("<plans...>", "their ids")
    .option("--reset", "drop what the unfinished TODO left in the worktree")
    .action((plans: string[], options: { reset?: boolean } & JsonOption) =>
      performCommand(options, async (call) => (await import("../changing/unblock.ts")).unblock(call, plans, options)),
    );
  declare(program, "delete", {
    about: "delete plans: their runs are ended, their worktrees removed; their branches and records stay",
    examples: ["delete add-a-login-page", "delete first-plan second-plan --yes --branch"],
  })
    .argument("<plans...>", "their ids")
    .option("-y, --yes", "do not ask")
    .option("--branch", "delete their branches too")
    .action((plans: string[], options: { yes?: boolean; branch?: boolean } & JsonOption) =>
      performCommand(options, async (call) =>
        (await import("../changing/delete.ts")).deleteCommand(call, plans, options),
      ),
    );
  declare(program, "clean", {
    about: "remove the worktrees of plans that are done",
    examples: ["clean", "clean add-a-login-page", "clean --branches"],
  })
    .argument("[plan]", "only this one")
    .option("--branches", "also delete the branches of plans that prloom merged")
    .action((plan: string | undefined, options: { branches?: boolean } & JsonOption) =>
      performCommand(options, async (call) =>
        (await import("../changing/clean.ts")).clean(call, plan, options.branches === true),
      ),
    );
}
