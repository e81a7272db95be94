import { existsSync, rmSync } from "node:fs";
import { basename, extname, join, relative } from "node:path";
import { CONFIG_FILE, loadConfig } from "../../config/load.ts";
import { readPin } from "../../config/pin.ts";
import { configForPlan } from "../../config/presets.ts";
import { liveDaemon } from "../../dispatcher/commands/live-daemon.ts";
import { refuseCopy } from "../../dispatcher/moved-repository.ts";
import { homeOf, inboxOf, type Paths, pathsOf } from "../../dispatcher/paths.ts";
import { settingsInForce } from "../../dispatcher/settings/pinned.ts";
import { pinnedConfig } from "../../dispatcher/settings/pinning.ts";
import { branchExists, ensureIgnored, openRepository, type Repository } from "../../git/repository.ts";
import { git } from "../../git/run.ts";
import { refuseBrought } from "../../git/tracked.ts";
import { planProblems } from "../../governance/policy/todo-hints.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { ensureDir, existsNoFollow } from "../../kernel/files.ts";
import { shortHash } from "../../kernel/ids.ts";
import { counted } from "../../kernel/text/words.ts";
import { beginningOf } from "../../plan/checklists/beginning.ts";
import { misspeltBoxes } from "../../plan/checklists/checklist.ts";
import { withLabelsApart } from "../../plan/checklists/labels-apart.ts";
import { withoutTasklistFences } from "../../plan/checklists/tasklists.ts";
import { requireReadable } from "../../plan/edit-plan.ts";
import { freeId, ID_RULES, isValidPlanId, planIdFor } from "../../plan/identity.ts";
import { parsePlan } from "../../plan/markdown/markdown.ts";
import { stackProblem } from "../../plan/metadata.ts";
import type { InboxMeta } from "../../plan/record.ts";
import type { Call } from "../output.ts";
import { refuseInsideRun } from "../plans.ts";
import { readInput } from "../read-input.ts";
import { visible } from "../render/safe-text.ts";
import { belowHeadings, chooseTodos, leftOutLines } from "./choose-todos.ts";
import { createFile } from "./create-file.ts";
import { dependencyWarnings } from "./dependency-warnings.ts";
import { editorOf, forEditor } from "./editor.ts";
import { planTextFor } from "./plan-text.ts";
import { planFromTemplate, TEMPLATE } from "./template.ts";

export interface NewOptions {
  readonly file?: string;
  readonly stdin?: boolean;
  readonly id?: string;
  readonly todo?: readonly string[];
  readonly todosFrom?: string[];
  readonly queue?: boolean;
  readonly preset?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly dependsOn?: readonly string[];
  readonly stack?: true;
  readonly branch?: string;
}

/** Puts a plan into the inbox. Needs no lock: the inbox is where any program may put plans. */
export async function newPlan(call: Call, title: string, options: NewOptions): Promise<number> {
  refuseInsideRun(call);
  const repo = await openRepository(call.cwd);
  refuseCopy(pathsOf(repo));
  const given = await readInput(options);
  if (given === undefined && options.todosFrom !== undefined)
    throw new PrloomError("usage", "--todos-from names a heading of a given text.", "Give one with --file or --stdin.");
  const editor = editorOf(call);
  const isBare = title === "" && given === undefined && options.todo === undefined;
  if (isBare && editor !== undefined) return newInEditor(call, repo, { editor, options });
  return makePlan(call, repo, { title, given, options });
}

async function newInEditor(
  call: Call,
  repo: Repository,
  { editor, options }: { readonly editor: string; readonly options: NewOptions },
): Promise<number> {
  const file = forEditor(editor, "plan", TEMPLATE);
  const given = planFromTemplate(await file.open());
  if (given === undefined) {
    file.remove();
    call.output.line("No plan was made: nothing was written.");
    call.output.data({ plan: null });
    return 0;
  }
  const code = await file.keeping(() => {
    if (parsePlan(given).title !== undefined) return makePlan(call, repo, { title: "", given, options });
    const hint = `Type: prloom new "what to do" --file ${file.file}`;
    throw new PrloomError("plan-invalid", "The plan has no title.", hint);
  });
  file.remove();
  return code;
}

interface Wanted {
  readonly title: string;
  readonly given: string | undefined;
  readonly options: NewOptions;
}

async function makePlan(call: Call, repo: Repository, { title, given: source, options }: Wanted): Promise<number> {
  const given = source === undefined ? undefined : withLabelsApart(withoutTasklistFences(source));
  const fromFile = titleFrom(options.file, given);
  // The name of a file is a title if it has several words; "issue.md" tells less than the first line.
  const hasTitle = title !== "" || fromFile.includes(" ");
  const beginning = given === undefined ? undefined : beginningOf(given, { hasTitle });
  const name = title === "" ? (beginning?.title ?? fromFile) : title;
  // Of a text that a person gives a title, its own is a line like others.
  const body = title === "" || beginning?.title === undefined ? beginning?.rest : given;
  // The title comes afterwards: what follows it would stand below it.
  const chosen = body === undefined ? undefined : await chooseTodos(call, body, options.todosFrom);
  const { from = [], leftOut = [] } = chosen ?? {};
  const text = planTextFor({
    title: name,
    todos: options.todo ?? [],
    ...(chosen === undefined ? {} : { given: chosen.text }),
  });
  await checkWishes(repo, options);
  const paths = pathsOf(repo);
  await refuseBrought(repo, inboxOf(paths, "any").text);
  ensureDir(paths.inbox);
  ensureIgnored(repo);
  const doc = requireReadable(text);
  const { config } = settingsInForce(paths.pinFile, repo.root);
  const problems = [
    ...planProblems(doc, config.governance.roles),
    ...(chosen?.notes ?? []),
    ...misspelt(body),
    ...misplaced(body),
  ];
  const id = place(paths, { wanted: options.id, title: doc.title ?? name, text, meta: metaOf(options) });
  const named = options.dependsOn ?? [];
  const unstackable = options.stack
    ? stackProblem([...new Set([...named, ...doc.dependsOn])], config.forge)
    : undefined;
  const warnings = [
    ...(await dependencyWarnings(call, repo, { id, named, listed: doc.dependsOn })),
    ...(unstackable === undefined ? [] : [unstackable]),
  ];
  const file = inboxOf(paths, id).text;
  const status = options.queue ? "queued" : "draft";
  const todos = doc.todos.length;
  call.output.data({
    ...{ plan: id, title: doc.title ?? id, status, file, todos, todosFrom: from, leftOut },
    ...{ problems, warnings },
  });
  tellPlan(call, { id, title: doc.title ?? id, status, file, todos, from });
  const { output } = call;
  const { frontMatter = [] } = beginning ?? {};
  if (frontMatter.length > 0) output.line(`  left out: its front matter (${visible(frontMatter.join(", "))})`);
  for (const line of leftOutLines(leftOut)) output.line(`  left out: ${line}`);
  for (const problem of problems) output.line(`  ${output.paint("yellow", "note:")} ${visible(problem)}`);
  for (const warning of warnings) output.line(`  ${output.paint("yellow", "warning:")} ${visible(warning)}`);
  if (problems.length > 0) output.line(`  hint: \`prloom edit ${id}\` changes its text.`);
  output.line();
  output.line(`next: ${(await nextSteps(repo, id, options.queue === true)).join("; ")}`);
  return 0;
}

interface MadePlan {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly file: string;
  readonly todos: number;
  readonly from: readonly string[];
}

function tellPlan({ output, cwd }: Call, { id, title, status, file, todos, from }: MadePlan): void {
  output.line(`${output.paint("bold", id)}  ${visible(title)}  (${status})`);
  output.line(`  ${relative(cwd, file) || file}`);
  if (todos === 0) output.line("  It has no TODOs yet: the designer agent makes them when work starts.");
  else output.line(`  ${counted(todos, "TODO")}${from.length > 0 ? ` from what stands ${belowHeadings(from)}` : ""}`);
}

/** Lines that were perhaps meant as checkboxes. */
function misspelt(text = ""): string[] {
  const lines = misspeltBoxes(text);
  if (lines.length === 0) return [];
  const shown = `${lines.slice(0, 5).join(", ")}${lines.length > 5 ? ", …" : ""}`;
  const what = lines.length === 1 ? "Line" : "Lines";
  return [`${what} ${shown} of the text: no checkbox, but almost. One is written \`- [ ] words\`, with its spaces.`];
}

/** What a plan waits for, written where only TODOs have it. */
function misplaced(text = ""): string[] {
  const [head = ""] = text.split(/^(?:#{2,}|[-*+]|```)/m);
  const [line] = /^after: *[\w-]+(?:, *[\w-]+)*(?=\r?$)/m.exec(head) ?? [];
  if (line === undefined) return [];
  return [
    `"${line}" has no effect outside of a TODO. Plans that this one waits for are a list below \`## Depends on\`.`,
  ];
}

/** The name of the file, for a text that has no title of its own. */
function titleFrom(file: string | undefined, given: string | undefined): string {
  if (file === undefined || file === "-" || given === undefined || parsePlan(given).title !== undefined) return "";
  const name = basename(file, extname(file));
  return /\s/.test(name) ? name : name.replace(/[-_]+/g, " ");
}

async function nextSteps(repo: Repository, id: string, queued: boolean): Promise<string[]> {
  const isRunning = (await liveDaemon(pathsOf(repo))) !== undefined;
  return [
    ...(existsSync(join(repo.root, CONFIG_FILE)) ? [] : ["`prloom init --yes` sets the repository up"]),
    ...(queued ? [] : [`\`prloom queue ${id}\` lets work start`]),
    ...(isRunning ? [] : ["`prloom start` works on what is queued"]),
    `\`prloom show ${id}\` tells how far it is`,
  ];
}

/** Mistakes in what the plan asks for are told now and not when work on it starts. */
async function checkWishes(repo: Repository, options: NewOptions): Promise<void> {
  const { agent, model, preset, branch, id } = options;
  if (id !== undefined && !isValidPlanId(id)) {
    throw new PrloomError(
      "id-invalid",
      `"${id}" cannot be the id of a plan.`,
      `It may have ${ID_RULES}: \`--id add-login\`, for example. Or leave --id out.`,
    );
  }
  if (branch !== undefined) {
    const answer = await git(["check-ref-format", "--branch", branch], { allowExit: [1, 128, 129] });
    if (answer.code !== 0 || branch.startsWith("-") || branch.startsWith("@{")) {
      throw new PrloomError(
        "usage",
        `"${branch}" cannot be the name of a branch.`,
        "For example: --branch feature/login",
      );
    }
    if (await branchExists(repo, branch)) {
      throw new PrloomError(
        "branch-exists",
        `There is a branch "${branch}" already, and prloom works only on branches that it made.`,
        "Choose another `--branch`, or leave it out: the branch is then called prloom/<id>.",
      );
    }
  }
  if (agent === undefined && preset === undefined) return;
  const wishes = {
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
    ...(preset === undefined ? {} : { preset }),
  };
  // A dispatcher that runs keeps to its pin; without one the next start takes what is checked out.
  const pin = (await liveDaemon(pathsOf(repo))) && readPin(pathsOf(repo).pinFile);
  const outcome = configForPlan(pin ? pinnedConfig(pin) : loadConfig(repo.root), wishes);
  if (!outcome.ok) throw new PrloomError("usage", outcome.reason, `${CONFIG_FILE} says which there are.`);
}

function metaOf(options: NewOptions): InboxMeta | undefined {
  const { preset, agent, model, branch, dependsOn, stack } = options;
  const wishes = Object.entries({ preset, agent, model, branch, dependsOn, stack }).filter(
    ([, value]) => value !== undefined,
  );
  if (wishes.length === 0 && !options.queue) return undefined;
  return {
    ...(options.queue ? { status: "queued" } : {}),
    ...(wishes.length > 0 ? { metadata: Object.fromEntries(wishes) } : {}),
  };
}

/** Of a title without a Latin letter or digit nothing readable can be made: its hash at least tells it from others. */
function fallbackFor(title: string): string {
  return title === "" ? "plan" : `plan-${shortHash(title.normalize("NFC"), 6)}`;
}

interface Placement {
  readonly wanted: string | undefined;
  readonly title: string;
  readonly text: string;
  readonly meta: InboxMeta | undefined;
}

/** Writes the record, then the text: a record without text is unfinished and never started. Returns the id. */
function place(paths: Paths, { wanted, title, text, meta }: Placement): string {
  const taken = (id: string) =>
    [homeOf(paths, id).home, inboxOf(paths, id).text, inboxOf(paths, id).meta].some((path) => existsNoFollow(path));
  const base = wanted ?? planIdFor({ title, fallback: fallbackFor(title) });
  for (;;) {
    const id = wanted ?? freeId(base, taken);
    const files = inboxOf(paths, id);
    if (!taken(id) && (meta === undefined || createFile(files.meta, `${JSON.stringify(meta, null, 2)}\n`))) {
      if (createFile(files.text, text)) return id;
      // Another process took the name in between; the record beside its text is ours to take back.
      if (meta !== undefined) rmSync(files.meta, { force: true });
    }
    if (wanted === undefined) continue;
    throw new PrloomError(
      "id-taken",
      `There is, or was, a plan called "${id}" already.`,
      "Choose another --id, or leave it out; ids are never used twice.",
    );
  }
}
