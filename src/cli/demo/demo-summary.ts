import { fileURLToPath } from "node:url";
import type { PlanDetail } from "../../dispatcher/report/read.ts";
import { shellWord } from "../../kernel/text/words.ts";
import type { Paint } from "../render/colour.ts";
import { firstLine, visible } from "../render/safe-text.ts";

const MARKS = { open: "[ ]", done: "[x]", blocked: "[b]" } as const;

export interface DemoResult {
  readonly dir: string;
  readonly kept: boolean;
  readonly detail: PlanDetail;
  readonly durationMs: number;
}

/** Everything was done as it should be. */
export function succeeded({ summary }: PlanDetail): boolean {
  return summary.status === "review" && summary.progress.completed === summary.progress.total;
}

/** What `prloom demo --json` prints. */
export function demoJson({ dir, kept, detail, durationMs }: DemoResult): Record<string, unknown> {
  const { summary, record, todos, commits, diff } = detail;
  return {
    dir,
    kept,
    plan: summary.planId,
    status: summary.status,
    ...(summary.blocked ? { blocked: summary.blocked } : {}),
    progress: summary.progress,
    todos: todos.map(({ text, state }) => ({ text, state })),
    commits: commits.map(({ sha, subject }) => ({ sha, subject })),
    diff,
    branch: record.branch,
    worktree: record.worktree,
    durationMs,
  };
}

/** The lines at the end of the demo: what was done, how long it took, where it lies, what to try. */
export function summaryLines(result: DemoResult, paint: Paint): string[] {
  const { detail, durationMs } = result;
  const { summary, todos, commits, record } = detail;
  const { completed, total } = summary.progress;
  const time = `${(durationMs / 1000).toFixed(1)} s`;
  const heading = (text: string) => ["", paint("bold", text)];
  const verdict = succeeded(detail)
    ? paint("green", `Ready for review: ${completed} of ${total} TODOs, ${commits.length} commits, ${time}.`)
    : paint(
        summary.gate ? "yellow" : "red",
        `Not ${summary.gate ? "approved" : "finished"}: ${completed} of ${total} TODOs after ${time}. ${firstLine(summary.blocked?.reason ?? "")}`.trim(),
      );
  return [
    "",
    verdict,
    ...heading(`The plan: ${visible(summary.title)}`),
    ...todos.map(({ state, text }) => `  ${MARKS[state]} ${visible(text)}`),
    ...heading(`The commits, on branch ${record.branch ?? "?"}`),
    ...commits.map(({ sha, subject }) => `  ${paint("yellow", sha.slice(0, 8))} ${visible(subject)}`),
    ...heading("What changed"),
    ...diffLines(detail),
    ...(result.kept
      ? [...heading("Where to look"), ...placeLines(result), ...heading("What to try next"), ...tryLines(result)]
      : []),
  ];
}

function diffLines({ diff }: PlanDetail): string[] {
  const files = diff?.files ?? [];
  const width = Math.max(0, ...files.map(({ path }) => path.length));
  const lines = files.map(({ path, added, removed }) => `  ${visible(path).padEnd(width)}  +${added} -${removed}`);
  return [...lines, `  ${files.length} files, +${diff?.added ?? 0} -${diff?.removed ?? 0} lines`];
}

function placeLines({ dir, detail }: DemoResult): string[] {
  return [
    `  repository   ${dir}`,
    `  worktree     ${detail.record.worktree ?? "none"}`,
    `  plan         ${detail.planFile}`,
    `  agent        ${dir}/prloom/agent/agent.mjs`,
  ];
}

function tryLines({ dir, detail }: DemoResult): string[] {
  const { summary } = detail;
  const id = summary.planId;
  const wishes = succeeded(detail)
    ? [
        `prloom comment ${id} "Please add a --version flag."   # talk back: it becomes a TODO`,
        "prloom start --until-idle                             # let the agent do it",
        `prloom merge ${id}                                    # merge it into main`,
      ]
    : [
        ...(summary.gate ? [`prloom approve ${id}                                  # let it be implemented`] : []),
        "prloom start --until-idle                             # go on where it stopped",
      ];
  const show = `prloom show ${id}                                     # everything about the plan`;
  return [`cd ${shellWord(dir)}`, `alias prloom=${shellWord(thisProgram())}`, show, ...wishes].map(
    (line) => `  ${line}`,
  );
}

/** How to call the prloom that runs this: from a checkout and from npx it is not on the PATH afterwards. */
export function thisProgram(): string {
  if (import.meta.url.endsWith(".ts")) return shellWord(fileURLToPath(new URL("../../../bin/prloom", import.meta.url)));
  return `${shellWord(process.execPath)} ${shellWord(fileURLToPath(new URL("./cli.js", import.meta.url)))}`;
}
