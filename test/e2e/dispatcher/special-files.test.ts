import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { after } from "node:test";
import { type CliResult, makeProject } from "../../testing/project.ts";
import { SEED_NOTE, someOf } from "../../testing/sample.ts";
import { story } from "../../testing/story.ts";

/** What can lie where prloom keeps a file: the first two are waited for or never end, the last fits into no memory. */
const KINDS: Readonly<Record<string, (path: string) => void>> = {
  pipe: (path) => void execFileSync("mkfifo", [path]),
  device: (path) => symlinkSync("/dev/zero", path),
  folder: (path) => mkdirSync(path),
  huge(path) {
    writeFileSync(path, "");
    truncateSync(path, 3 * 1024 ** 3);
  },
};

const PLUGIN = `export default () => ({
  afterActivate: (plan, ctx) => { ctx.setState("k", 1); ctx.setGlobalState("k", 1); },
  beforeTodo: (text, ctx) => { ctx.setState("k", 1); ctx.setGlobalState("k", 1); },
});
`;

const project = makeProject({
  config: {
    plugins: { own: { module: "./memory.mjs" } },
    globalPlugins: { all: { module: "./memory.mjs" } },
    bus: { retryMin: "10ms", retryMax: "1h" },
    limits: { maxOpenPlans: 1000, maxRunningAgents: 4 },
  },
});
writeFileSync(join(project.root, "memory.mjs"), PLUGIN);
after(() => project.remove());

const homeOf = (id: string): string => join(project.authority, "plans", id);

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort();
}

/** Plans that ran once each, with a comment and a gate. */
async function makePlans(ids: readonly string[]): Promise<void> {
  project.config({ gates: { plan: true, advisory: true } });
  for (const id of ids) project.plan(id, ["one"]);
  await typed("start", "--until-idle");
  for (const id of ids) await typed("comment", id, "More.");
  await typed("approve", ...ids);
  project.config({ gates: {} });
  await typed("start", "--until-idle");
  for (const id of ids) assert.equal(project.record(id).status, "review", id);
}

async function typed(...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await project.cli(args);
  assert.equal(code, 0, `${args.join(" ")}: ${stdout}${stderr}`);
}

/** Whatever a command answers, it is an answer: no fault of prloom, and where it fails, with the file and what to type. */
function assertDefined(said: CliResult, file: string): void {
  const text = `${said.stdout}${said.stderr}`;
  assert.equal(said.signal, null, text);
  assert.doesNotMatch(text, /bug in prloom|\[internal\]/, file);
  if (said.stderr.includes("error:")) {
    assert(said.stderr.includes(file), `${file}: ${said.stderr}`);
    assert.match(said.stderr, /hint: .*`mv /);
  }
}

const step = story(`what is no file, where prloom keeps one (${SEED_NOTE})`);

/** A file of a plan's home, and what it becomes; in a run that has ended or in one that was cut off. */
interface Place {
  readonly id: string;
  readonly file: string;
  readonly kind: string;
  readonly isCut: boolean;
}
let places: Place[] = [];

step("is made of every file of a plan", async () => {
  await makePlans(["model"]);
  const files = filesBelow(homeOf("model")).filter((file) => !file.includes("/agent/") && !file.startsWith("runs/1/"));
  for (const file of ["state.json", "plan.md", "bus/settled.jsonl", "runs/2/request.json", "plugin-state/own.json"])
    assert(files.includes(file), `${file} is not among ${files.join(" ")}`);
  const all = files.flatMap((file) =>
    Object.keys(KINDS).flatMap((kind) =>
      (file.startsWith("runs/") ? [false, true] : [false]).map((isCut) => ({ file, kind, isCut })),
    ),
  );
  places = someOf(all, 3).map((place, at) => ({ ...place, id: `plan-${at}` }));
  await makePlans(places.map(({ id }) => id));
});

step("keeps no other plan from working, and its own says what is in the way", async () => {
  for (const { id, file, kind, isCut } of places) {
    if (isCut) rmSync(join(homeOf(id), "runs/2/exit.json"));
    rmSync(join(homeOf(id), file), { force: true });
    KINDS[kind]?.(join(homeOf(id), file));
  }
  project.plan("good", ["one"]);
  for (const args of [["start", "--until-idle"], ["status"], ["doctor"]]) {
    const said = await project.cli(args);
    assert.equal(said.code, 0, `${args[0]}: ${said.stdout}${said.stderr}`);
    assertDefined(said, "");
  }
  assert.equal(project.record("good").status, "review");
  const { plans, problems } = await project.status();
  for (const { id, file, kind } of places) {
    const note = `${file} is a ${kind}: `;
    const { blocked } = plans.find(({ planId }) => planId === id) ?? {};
    const problem = problems.find((one) => one.file.includes(`/${id}/`));
    if (file === "state.json") assert(problem !== undefined, note);
    if (blocked === undefined) continue;
    // Of a plan's text the beginning is read.
    const isNamed = blocked.reason.includes(basename(file)) || /^The text is larger/.test(blocked.reason);
    assert(isNamed, note + blocked.reason);
    assert.doesNotMatch(blocked.hint ?? "", /bug in prloom/, note + blocked.reason);
  }
});

step("is refused by a start that cannot do without it, with what to type; else it starts", async () => {
  for (const { id } of places) rmSync(homeOf(id), { recursive: true });
  await project.work();
  // One gate stands for those of all plans.
  const files = filesBelow(project.authority).filter((file) => !/^(plans|gates)\//.test(file));
  files.push(`gates/${project.record("model").gate ?? ""}.json`);
  for (const file of [
    "agents.json",
    "bus/events.jsonl",
    "bus/state/lifecycle.json",
    "daemon.lock",
    "pinned.json",
    "plugin-state-global/all.json",
  ])
    assert(files.includes(file), `${file} is not among ${files.join(" ")}`);
  const all = ["daemon.json", ...files].flatMap((file) => Object.keys(KINDS).map((kind) => ({ file, kind })));
  for (const [at, { file, kind }] of someOf(all, 2).entries()) {
    const path = join(project.authority, file);
    const isThere = existsSync(path);
    if (isThere) renameSync(path, `${path}.kept`);
    KINDS[kind]?.(path);
    project.plan(`good-${at}`, ["one"]);
    const start = await project.work();
    for (const said of [start, await project.cli(["status"]), await project.cli(["doctor"])]) assertDefined(said, file);
    if (start.code === 0) assert.equal(project.record(`good-${at}`).status, "review", `${kind} ${file}`);
    rmSync(path, { recursive: true, force: true });
    if (isThere) renameSync(`${path}.kept`, path);
    if (start.code !== 0) await typed("start", "--until-idle");
  }
});
