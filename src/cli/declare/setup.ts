import { Argument, type Command } from "commander";
import type { NewOptions } from "../changing/new.ts";
import type { CompletionShell } from "../completion/scripts.ts";
import type { StartOptions } from "../running/start.ts";
import type { InitOptions } from "../setup/init.ts";
import { collect, declare, type JsonOption, performCommand } from "./declare.ts";

/** Commands that set something up: init, new, start, stop, reload, doctor, demo, completion. */
export function declareSetup(program: Command): void {
  declareInit(program);
  declareNew(program);
  declareStart(program);
  declare(program, "stop", {
    about: "end the running dispatcher; agents are ended, and the next start continues where they were",
    examples: ["stop", "stop --json"],
  }).action((options: JsonOption) =>
    performCommand(options, async (call) => (await import("../running/stop.ts")).stop(call)),
  );
  declare(program, "reload", {
    about: "let the dispatcher work with the config, prompts and programs that are checked out now; shows what changes",
    examples: ["reload", "reload --yes", "reload --json"],
  })
    .option("-y, --yes", "do not ask, even where it permits more or checks less")
    .action((options: { yes?: boolean } & JsonOption) =>
      performCommand(options, async (call) => (await import("../running/reload.ts")).reload(call, options)),
    );
  declare(program, "doctor", {
    about: "check everything that prloom needs, agents and their logins too, and say what to do about what is missing",
    examples: ["doctor", "doctor --json"],
  }).action((options: JsonOption) =>
    performCommand(options, async (call) => (await import("../doctor/doctor.ts")).doctor(call)),
  );
  declareDemo(program);
  declareCompletion(program);
}

function declareCompletion(program: Command): void {
  declare(program, "completion", {
    about: "print what a shell needs to complete commands, options and plans",
    examples: [
      "completion bash",
      "prloom completion bash >> ~/.bashrc",
      "prloom completion zsh > ~/.zfunc/_prloom",
      "prloom completion fish > ~/.config/fish/completions/prloom.fish",
    ],
  })
    .addArgument(new Argument("<shell>", "of which shell").choices(["bash", "zsh", "fish"]))
    .action((shell: CompletionShell, options: JsonOption) =>
      performCommand(options, async (call) => (await import("../completion/completion.ts")).completion(call, shell)),
    );
  declare(program, "complete", {
    about: "print what may be typed next; shells call it",
    examples: ["complete -- show add"],
    hidden: true,
  })
    .argument("[words...]", "what is typed so far, without prloom")
    .action((words: string[], options: JsonOption) =>
      performCommand(options, async (call) =>
        (await import("../completion/completion.ts")).complete(call, program, words),
      ),
    );
}

function declareInit(program: Command): void {
  declare(program, "init", {
    about: "set up this repository: writes prloom/config.json, unless there is one",
    examples: [
      "init",
      "init --yes",
      "init --agent claude --checks",
      "prloom init --github --label prloom --dry-run",
      'init --agent mine --command my-agent --arg "--quiet"',
    ],
  })
    .option("-y, --yes", "ask nothing, take the first agent that is installed and logged in")
    .option("--agent <name>", "opencode, claude, codex or gemini; with --command: what to call that program")
    .option("--command <program>", "any other program to run as agent; it gets the prompt on stdin")
    .option("--arg <argument>", "an argument for that program; repeat it for more", collect)
    .option("--checks", "let the repository's own tests, as far as its files tell, run before each commit")
    .option("--no-checks", "write no checks, and do not ask")
    .option(
      "--github [repo]",
      "let issues of this repository on GitHub become plans; without a name that of the remote",
    )
    .option("--no-github", "do not, and do not ask")
    .option("--label <label>", "the label that makes a plan of an issue (prloom)")
    .option("--dry-run", "only show what would be written, and what would happen")
    .option("--gates", "let each plan wait for your approval before it is implemented")
    .option("--no-gates", "do not, and do not ask")
    .action((options: InitOptions & JsonOption) =>
      performCommand(options, async (call) => (await import("../setup/init.ts")).init(call, options)),
    );
}

function declareNew(program: Command): void {
  declare(program, "new", {
    about: "put a plan into the inbox; a draft, until it is queued. Without a title or a text it opens your editor",
    examples: [
      'new "Add a login page" --todo "Write the form" --todo "Check the password" --queue',
      "new",
      "new --file plan.md --queue",
      'new --file issue.md --todos-from "Proposed changes"',
      "cat plan.md | prloom new --stdin --id login --depends-on database",
      'new "Show the login form" --depends-on login --stack --queue',
    ],
  })
    .argument("[title...]", "what the plan is about")
    .option("--file <file>", "take the plan's text from this file")
    .option("--stdin", "take the plan's text from standard input")
    .option("--id <id>", "its name; by default it is made from the title")
    .option("--todo <text>", "a TODO; repeat it for more", collect)
    .option(
      "--todos-from <heading>",
      'the heading whose checkboxes are the TODOs, repeat it for more; "none": the designer makes them',
      collect,
    )
    .option("--queue", "let work start at once")
    .option("--preset <name>", "a preset of prloom/config.json")
    .option("--agent <name>", "the agent that works on it")
    .option("--model <name>", "the model that the agent uses")
    .option("--depends-on <id>", "a plan that must be merged first; repeat it for more", collect)
    .option("--stack", "begin on the branch of that plan once it is in review (forge github)")
    .option("--branch <name>", "the branch to work on; by default prloom/<id>")
    .action((title: string[], options: NewOptions & JsonOption) =>
      performCommand(options, async (call) =>
        (await import("../changing/new.ts")).newPlan(call, title.join(" "), options),
      ),
    );
}

function declareStart(program: Command): void {
  declare(program, "start", {
    about: "work on queued plans until told to stop (Ctrl-C, `prloom stop`)",
    examples: ["start", "start --until-idle", "start --until-idle --fail-if-blocked", "start --detach"],
  })
    .option("--until-idle", "end when there is nothing left to do")
    .option("--fail-if-blocked", "end with 1 if a plan is blocked then; for scripts")
    .option("--detach", "go on in the background, with output to a file")
    .action((options: StartOptions & JsonOption) =>
      performCommand(options, async (call) => (await import("../running/start.ts")).start(call, options)),
    );
}

function declareDemo(program: Command): void {
  declare(program, "demo", {
    about: "make a throw-away repository with a plan and watch a demo agent work on it",
    examples: ["demo", "demo --dir /tmp/try-prloom", "demo --gate"],
  })
    .option("--dir <folder>", "where to make it; must be empty or absent")
    .option("--no-keep", "remove it afterwards")
    .option("--gate", "stop at the plan until you approve it")
    .action((options: { dir?: string; keep: boolean; gate?: boolean } & JsonOption) =>
      performCommand(options, async ({ output }) => {
        const { runDemo } = await import("../demo/demo.ts");
        return runDemo({
          ...(options.dir === undefined ? {} : { dir: options.dir }),
          keep: options.keep,
          gate: options.gate === true,
          json: output.json,
          out: output,
        });
      }),
    );
}
