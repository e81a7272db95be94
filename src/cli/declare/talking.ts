import type { Command } from "commander";
import type { GateDecision } from "../../gate/gate-record.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { EditOptions } from "../changing/edit.ts";
import type { MergeFlags } from "../changing/merge.ts";
import type { RetryOptions } from "../changing/retry.ts";
import type { AnswerFlags } from "../talking/answer.ts";
import type { CommentFlags } from "../talking/comment.ts";
import type { ImportOptions } from "../talking/import.ts";
import type { OpenOptions } from "../talking/open.ts";
import type { SendOptions } from "../talking/send.ts";
import type { SignFlags } from "../talking/sign.ts";
import { declare, type JsonOption, performCommand, wholeNumber } from "./declare.ts";

/** Commands by which a person takes part in the work: edit, comment, send, open, rebase, merge, poll, retry. */
export function declareTalking(program: Command): void {
  declare(program, "edit", {
    about: "change the text of a plan in your editor ($VISUAL, $EDITOR), from a file or from standard input",
    examples: ["edit add-a-login-page", "edit add-a-login-page --file plan.md"],
  })
    .argument("<plan>", "its id")
    .option("--file <file>", "take the new text from this file")
    .option("--stdin", "take the new text from standard input")
    .option("--based-on <sha256>", "refuse if the present text is not the one with this hash (`show --json` has it)")
    .action((plan: string, options: EditOptions & JsonOption) =>
      performCommand(options, async (call) => (await import("../changing/edit.ts")).edit(call, plan, options)),
    );
  declare(program, "comment", {
    about: "comment on a plan; triage answers, and makes TODOs out of it",
    examples: [
      'comment add-a-login-page "please add a test for the empty password"',
      'comment add-a-login-page --todo 2 "use the existing form"',
    ],
  })
    .argument("<plan>", "its id")
    .argument("[text...]", "what to say")
    .option("--todo <number>", "about one TODO, as `prloom show` numbers them", wholeNumber(1))
    .option("--stdin", "take the words from standard input")
    .action((plan: string, words: string[], options: CommentFlags & JsonOption) =>
      performCommand(options, async (call) =>
        (await import("../talking/comment.ts")).comment(call, plan, { ...options, text: words.join(" ") }),
      ),
    );
  declareAnswers(program);
  declareAgentTalk(program);
  declare(program, "rebase", {
    about: "bring a plan's branch onto its base; an agent resolves what conflicts",
    examples: ["rebase add-a-login-page"],
  })
    .argument("<plan>", "its id")
    .action((plan: string, options: JsonOption) =>
      performCommand(options, async (call) => (await import("../changing/rebase.ts")).rebaseCommand(call, plan)),
    );
  declare(program, "merge", {
    about: "merge a plan that is in review into its base branch, and finish it",
    examples: ["merge add-a-login-page", "merge add-a-login-page --rebase --delete-branch"],
  })
    .argument("<plan>", "its id")
    .option("--squash", "as one commit; this is the default")
    .option("--merge", "with a merge commit; the commits of its TODOs stay")
    .option("--rebase", "commit by commit, on top of the base branch")
    .option("--delete-branch", "remove its worktree and its branch afterwards")
    .option("--force", "merge without checks, even if it is blocked, or has open TODOs or unanswered comments")
    .action((plan: string, options: MergeFlags & JsonOption) =>
      performCommand(options, async (call) => (await import("../changing/merge.ts")).merge(call, plan, options)),
    );
  declareImport(program);
  declareBus(program);
}

function declareImport(program: Command): void {
  declare(program, "import", {
    about: "make drafts of issues on GitHub that are older than the first start; one that has a plan keeps it",
    examples: [
      "import 12",
      "import 12 15 --queue",
      "import 12 --claim",
      'import "label:bug is:open sort:created-asc" --dry-run',
    ],
  })
    .argument("<issue...>", "their numbers, or the words of a search as on GitHub")
    .option("--queue", "have them worked on, instead of making drafts")
    .option("--claim", "also those that another clone has claimed: take them over (forge github)")
    .option("--dry-run", "only say what would be made")
    .action((wanted: string[], options: ImportOptions & JsonOption) =>
      performCommand(options, async (call) =>
        (await import("../talking/import.ts")).importCommand(call, wanted, options),
      ),
    );
}

function declareAgentTalk(program: Command): void {
  declare(program, "send", {
    about: "say something to a plan's agent: while it works if it listens then, else with its next turn",
    examples: [
      'send add-a-login-page "the form is in src/forms, use that one"',
      "send add-a-login-page --file notes.md",
    ],
  })
    .argument("<plan>", "its id")
    .argument("[text...]", "what to say")
    .option("--file <file>", "take the words from this file")
    .option("--stdin", "take the words from standard input")
    .action((plan: string, words: string[], options: SendOptions & JsonOption) =>
      performCommand(options, async (call) =>
        (await import("../talking/send.ts")).send(call, plan, { ...options, text: words.join(" ") }),
      ),
    );
  declare(program, "open", {
    about: "continue by hand in the agent's own interface, in the plan's worktree; prloom keeps out of it meanwhile",
    examples: ["open add-a-login-page", "open add-a-login-page --now", "open add-a-login-page --shell"],
  })
    .argument("<plan>", "its id")
    .option("--now", "stop the agent that is at work; it goes on afterwards")
    .option("--agent <name>", "an agent other than the plan's, as the config names it")
    .option("--shell", "a shell in the same place instead of the agent")
    .option("--print", "print the command instead of starting it; so does --json, and a call without a terminal")
    .action((plan: string, options: OpenOptions & JsonOption) =>
      performCommand(options, async (call) => (await import("../talking/open.ts")).open(call, plan, options)),
    );
}

function declareBus(program: Command): void {
  declare(program, "poll", {
    about: "ask the bridges for news now, instead of at their next poll",
    examples: ["poll", "poll kanban"],
  })
    .argument("[bridge]", "only this one, as the config names it")
    .action((bridge: string | undefined, options: JsonOption) =>
      performCommand(options, async (call) => (await import("../talking/poll.ts")).poll(call, bridge)),
    );
  declare(program, "retry", {
    about: "try dead letters again, or drop them: events and actions that were given up (`prloom status` lists them)",
    examples: ["retry act-5d41402abc4b2a76", "retry --all", "retry --drop act-5d41402abc4b2a76"],
  })
    .argument("[id]", "of the record")
    .option("--all", "all of them")
    .option("--drop", "give them up for good instead of trying again")
    .action((id: string | undefined, options: RetryOptions & JsonOption) =>
      performCommand(options, async (call) => (await import("../changing/retry.ts")).retry(call, id, options)),
    );
}

interface AnswerOptions extends AnswerFlags, SignFlags, JsonOption {
  readonly reason?: string;
  readonly sign?: boolean;
}

/** Answers to a plan that waits at a gate. */
function declareAnswers(program: Command): void {
  const answering = (name: GateDecision, about: string, example: string) =>
    declare(program, name, { about, examples: [example, `${example} --sign`] })
      .argument(
        name === "approve" ? "<plan...>" : "<plan>",
        name === "approve" ? "its id; several are answered each" : "its id",
      )
      .option("--gate <id>", "refuse if another gate is open by now (`prloom gates` lists them)")
      .option("--sign", "print a signed comment instead, which counts whatever login posts it (gates.signers)")
      .option("--digest <hex>", "with --sign and --gate: what was shown, where its records are on another machine");
  answering(
    "approve",
    "let a plan that waits at its gate be implemented, or its change be merged",
    "approve add-a-login-page",
  )
    .option("--comment <words>", "something for the worker")
    .action((plans: string[], options: AnswerOptions & { comment?: string }) =>
      give("approve", plans, { ...options, words: options.comment ?? "" }),
    );
  answering(
    "reject",
    "refuse a plan that waits at its gate; it is blocked",
    'reject add-a-login-page "too much at once"',
  )
    .argument("[why...]", "why; or with --reason")
    .option("--reason <why>", "why")
    .action((plan: string, why: string[], options: AnswerOptions) =>
      give("reject", [plan], { ...options, words: [...why, options.reason ?? ""].join(" ").trim() }),
    );
  answering(
    "revise",
    "send a plan that waits at its gate back to the designer, or its change to triage",
    'revise add-a-login-page "keep the old form"',
  )
    .argument("<what...>", "what to change")
    .action((plan: string, what: string[], options: AnswerOptions) =>
      give("revise", [plan], { ...options, words: what.join(" ") }),
    );
  answering("withdraw", "take an approval back: the run ends, the work so far stays", "withdraw add-a-login-page")
    .option("--reason <why>", "why")
    .action((plan: string, options: AnswerOptions) =>
      give("withdraw", [plan], { ...options, words: options.reason ?? "" }),
    );
}

function give(decision: GateDecision, plans: string[], options: AnswerOptions & { words: string }): Promise<void> {
  const { words, gate, digest, sign } = options;
  const flags = gate === undefined ? {} : { gate };
  return performCommand(options, async (call) => {
    const [plan = "", ...others] = plans;
    if (decision === "reject" && words === "")
      throw new PrloomError("usage", "Why is it rejected?", `Type: prloom reject ${plan} "why"`);
    if (sign && others.length > 0)
      throw new PrloomError("usage", "--sign is for one plan.", "Sign the answers one by one.");
    if (sign) {
      const what = { plan, decision, words, ...flags, ...(digest === undefined ? {} : { digest }) };
      return (await import("../talking/sign.ts")).signAnswer(call, what);
    }
    if (digest !== undefined) throw new PrloomError("usage", "--digest is for --sign.", "Leave it out, or add --sign.");
    return (await import("../talking/answer.ts")).answer(call, plans, { decision, words, ...flags });
  });
}
