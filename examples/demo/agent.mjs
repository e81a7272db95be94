/**
 * The demo's coding agent: a program like any other that prloom can run. It reads the PRLOOM_* variables, edits the
 * files of its worktree, and reports in files. It needs no model, so the demo works offline and always the same way.
 */
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { RECIPES } from "./recipes.mjs";

const {
  PRLOOM_STAGE: stage,
  PRLOOM_WORKTREE: worktree,
  PRLOOM_PLAN_FILE: planFile,
  PRLOOM_TODO: todoText = "",
  PRLOOM_TODO_INDEX: todoIndex,
  PRLOOM_EVENTS_FILE: eventsFile,
  PRLOOM_RESULT_FILE: resultFile,
} = process.env;
/** A TODO that came out of a comment ends with a note that says so. */
const todo = todoText.replace(/\s*<!--.*?-->/g, "");
/** Long enough to be seen while it happens. */
const PAUSE_MS = Number(process.env.DEMO_PAUSE_MS ?? 250);

async function say(line) {
  console.log(line);
  await sleep(PAUSE_MS);
}

/** The files of the worktree. Edits are kept until `save`, so that a TODO that cannot be done leaves nothing half done. */
function openRepository() {
  const edited = new Map();
  const path = (file) => `${worktree}/${file}`;
  const has = (file) => edited.has(file) || existsSync(path(file));
  const read = (file) => edited.get(file) ?? readFileSync(path(file), "utf8");
  const write = (file, text) => edited.set(file, text);
  const save = () => {
    const lines = [...edited.keys()].map((file) => `${existsSync(path(file)) ? "edit" : "create"} ${file}`);
    for (const [file, text] of edited) writeFileSync(path(file), text);
    return lines;
  };
  return {
    has,
    read,
    write,
    save,
    create: (file, text) => {
      if (has(file)) throw new Error(`${file} exists already`);
      write(file, text);
    },
    append: (file, text) => write(file, read(file) + text),
    replace: (file, before, after) => {
      const parts = read(file).split(before);
      if (parts.length !== 2) throw new Error(`${file} does not have the line I wanted to change: ${before.trim()}`);
      write(file, parts.join(after));
    },
    run: (...args) => {
      save();
      return execFileSync(process.execPath, args, { cwd: worktree, encoding: "utf8" });
    },
  };
}

/** A TODO that no recipe fits is noted, so that everything people try with the demo has an effect. */
function takeNote(repository) {
  const before = repository.has("NOTES.md") ? repository.read("NOTES.md") : "# Notes\n\n";
  repository.write("NOTES.md", `${before}- ${todo}\n`);
}

async function work() {
  await say(`reading: ${todo}`);
  const recipe = RECIPES.find(({ words }) => words.test(todo));
  const { edit, done } = recipe ?? {
    edit: takeNote,
    done: "noted it in NOTES.md; the demo agent has no recipe for it",
  };
  const repository = openRepository();
  try {
    edit(repository);
  } catch (error) {
    await say(`cannot do it: ${error.message}`);
    mark("b", `  blocked: ${error.message}`);
    return;
  }
  for (const line of repository.save()) await say(line);
  mark("x");
  log(done);
  await say(`done: ${done}`);
}

/** Sets the box of this run's TODO in the plan's copy. */
function mark(state, line) {
  const lines = readFileSync(planFile, "utf8").split("\n");
  const start = lines.findIndex((each) => /^## TODOs?\s*$/i.test(each));
  const items = lines.flatMap((each, at) => (at > start && /^[-*+] \[[ xb]\] /i.test(each) ? [at] : []));
  const at = items[Number(todoIndex)];
  lines[at] = lines[at].replace(/\[[ xb]\]/i, `[${state}]`);
  if (line !== undefined) lines.splice(at + 1, 0, line);
  writeFileSync(planFile, lines.join("\n"));
}

function log(line) {
  const text = readFileSync(planFile, "utf8").trimEnd();
  const heading = text.includes("\n## Progress Log") ? "" : "\n\n## Progress Log\n";
  const blank = heading !== "" || text.endsWith("## Progress Log") ? "\n" : "";
  writeFileSync(planFile, `${text}${heading}${blank}\n- ${line}\n`);
}

/** A plan without TODOs gets one for each item of its lists, or one for its title. */
async function design() {
  const text = readFileSync(planFile, "utf8");
  await say("reading the plan");
  const wishes = [...text.matchAll(/^[-*] (?!\[)(.+)$/gm)].map(([, wish]) => wish.trim());
  const title = /^## Title\s+(.+)$/m.exec(text)?.[1] ?? /^# (.+)$/m.exec(text)?.[1] ?? "Do what the plan says";
  const todos = wishes.length > 0 ? wishes : [title];
  const list = todos.map((wish) => `- [ ] ${wish}`).join("\n");
  const heading = /^## TODOs?\s*$/m;
  if (heading.test(text)) writeFileSync(planFile, text.replace(heading, `## TODO\n\n${list}`));
  else appendFileSync(planFile, `\n## TODO\n\n${list}\n`);
  await say(`planned ${todos.length} TODO(s)`);
}

/** "Please add a --version flag." is a wish; anything else gets a friendly word. */
function wishesIn(body) {
  const sentences = body.split(/(?<=[.!?])\s+|\n+/);
  return sentences.flatMap((sentence) => {
    const wish = /\bplease\b,?\s+(.+?)[.!]*$/i.exec(sentence.trim())?.[1];
    return wish ? [wish[0].toUpperCase() + wish.slice(1)] : [];
  });
}

async function triage() {
  const events = JSON.parse(readFileSync(eventsFile, "utf8"));
  await say(`reading ${events.length} comment(s)`);
  const wishes = events.flatMap((event) => wishesIn(event.body).map((text) => ({ text, events: [event.id] })));
  const rebase = wishes.filter(({ text }) => /\brebase\b/i.test(text));
  const todos = wishes.filter((wish) => !rebase.includes(wish));
  const reply =
    wishes.length > 0
      ? "Will do."
      : "Thank you. I am the demo agent: tell me what to do with a sentence that says please.";
  writeFileSync(
    resultFile,
    JSON.stringify({ reply_markdown: reply, todos, rebase_requested: rebase.length > 0 }, null, 2),
  );
  await say(`${todos.length} TODO(s) wanted`);
}

await { worker: work, designer: design, triage }[stage]();
