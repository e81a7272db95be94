import { join } from "node:path";
import { messageOf } from "../../kernel/errors.ts";
import { listDir, readTextIfExists, readTextNoFollow, writeFileIfChanged } from "../../kernel/files.ts";
import { parseJson } from "../../kernel/json.ts";
import { asFields, type JsonFields } from "../../kernel/json-fields.ts";
import { lstatIfThere } from "../../kernel/lstat.ts";
import { ID_RULES, isValidPlanId } from "../../plan/identity.ts";
import { MAX_TEXT_BYTES } from "../../plan/markdown/size-limits.ts";
import { type InboxMeta, inboxMetaSchema } from "../../plan/record.ts";
import { keyIn, type StatKey, statKey } from "./stat-key.ts";

/** One plan as it lies in the inbox. */
export interface InboxEntry {
  readonly id: string;
  /** False: only the json is there yet; a plan without text is unfinished. */
  readonly hasText: boolean;
  readonly hasMeta: boolean;
  readonly meta: InboxMeta;
  /** One of its files cannot be used; the plan is shown blocked with this reason. */
  readonly problem?: FileProblem;
}

export interface FileProblem {
  /** Its name in the inbox. */
  readonly file: string;
  readonly reason: string;
}

/** A file in the inbox that cannot become a plan. */
export interface InboxProblem {
  readonly file: string;
  readonly reason: string;
  readonly hint: string;
}

export interface InboxScan {
  readonly entries: ReadonlyMap<string, InboxEntry>;
  readonly problems: readonly InboxProblem[];
  /** Ids whose files appeared, changed or vanished since the scan before. */
  readonly changed: ReadonlySet<string>;
}

export interface Inbox {
  /** Keeps what was read, so that the next start opens only what changed since. */
  save(): void;
  /** Reads the directory and opens only files whose stat changed. */
  scan(): InboxScan;
  /** Looks at one plan's files only, whatever else lies in the inbox. The next scan still tells that they changed. */
  look(id: string): Pick<InboxScan, "entries">;
}

interface Seen {
  readonly key: string;
  readonly entry: InboxEntry;
}

export function openInbox(dir: string, cacheFile: string): Inbox {
  let seen = loadSeen(cacheFile);
  /** What looks at single plans read since the last scan. */
  const looked = new Map<string, Seen>();
  return {
    save: () =>
      void writeFileIfChanged(
        cacheFile,
        JSON.stringify({ schemaVersion: CACHE_VERSION, seen: [...seen.values()].map(rowOf) }),
      ),
    scan() {
      const files = groupFiles(listDir(dir));
      const next = new Map<string, Seen>();
      const entries = new Map<string, InboxEntry>();
      const changed = new Set<string>();
      for (const [id, has] of files.plans) {
        const key = keyOf(dir, id, has);
        const before = seen.get(id);
        const now = before?.key === key ? before : { key, entry: readEntry(dir, id, has) };
        if (now !== before) changed.add(id);
        next.set(id, now);
        entries.set(id, now.entry);
      }
      for (const id of seen.keys()) if (!next.has(id)) changed.add(id);
      seen = next;
      looked.clear();
      return { entries, problems: files.problems, changed };
    },
    look(id) {
      const { key, ...has } = filesOf(dir, id);
      if (!has.text && !has.meta) return { entries: new Map() };
      const known = [looked.get(id), seen.get(id)].find((one) => one?.key === key);
      const entry = known?.entry ?? readEntry(dir, id, has);
      looked.set(id, { key, entry });
      return { entries: new Map([[id, entry]]) };
    },
  };
}

const CACHE_VERSION = 3;

function rowsIn({ schemaVersion, seen }: JsonFields): readonly Row[] {
  return schemaVersion === CACHE_VERSION && Array.isArray(seen) ? seen : [];
}

/** One plan, without the names of its members: a start reads thousands. */
type Row = [key: string, id: string, hasText: boolean, hasMeta: boolean, meta: InboxMeta, problem?: FileProblem];

function rowOf({ key, entry: { id, hasText, hasMeta, meta, problem } }: Seen): Row {
  return problem === undefined ? [key, id, hasText, hasMeta, meta] : [key, id, hasText, hasMeta, meta, problem];
}

function seenIn(row: Row): Seen | undefined {
  const [key, id, hasText, hasMeta, meta, problem] = row;
  const isWhole = typeof key === "string" && typeof id === "string" && typeof meta === "object" && meta !== null;
  if (!isWhole) return undefined;
  return { key, entry: { id, hasText, hasMeta, meta, ...(problem === undefined ? {} : { problem }) } };
}

/** The cache can be rebuilt, so anything wrong with it only means that it is empty. */
function loadSeen(cacheFile: string): Map<string, Seen> {
  const all = new Map<string, Seen>();
  try {
    const text = readTextIfExists(cacheFile);
    for (const row of text === undefined ? [] : rowsIn(asFields(JSON.parse(text)))) {
      const seen = seenIn(row);
      if (seen) all.set(seen.entry.id, seen);
    }
    return all;
  } catch {
    return new Map();
  }
}

interface Has {
  text: boolean;
  meta: boolean;
}

/** Which files a plan has, and their key as `keyOf` has it. */
function filesOf(dir: string, id: string): Has & { key: string } {
  if (!isValidPlanId(id)) return { text: false, meta: false, key: "" };
  const [text, meta] = [".md", ".json"].map((end) => lstatIfThere(`${dir}/${id}${end}`));
  return { text: text !== undefined, meta: meta !== undefined, key: `${keyIn(text)}|${keyIn(meta)}` };
}

function groupFiles(names: readonly string[]): { plans: Map<string, Has>; problems: InboxProblem[] } {
  const plans = new Map<string, Has>();
  const problems: InboxProblem[] = [];
  for (const name of names) {
    const isText = name.endsWith(".md");
    if (name.startsWith(".") || !(isText || name.endsWith(".json"))) continue;
    const id = name.slice(0, name.lastIndexOf("."));
    const known = plans.get(id);
    if (known) known[isText ? "text" : "meta"] = true;
    else if (isValidPlanId(id)) plans.set(id, { text: isText, meta: !isText });
    else if (isText) problems.push(badName(name));
  }
  return { plans, problems };
}

/** The plan that a file in the inbox belongs to, if its name is one of a plan's. */
export function planOfFile(name: string): string | undefined {
  const [, id = ""] = /^(.*)\.(?:md|json)$/.exec(name) ?? [];
  return isValidPlanId(id) ? id : undefined;
}

function badName(name: string): InboxProblem {
  return {
    file: name,
    reason: `The file name is not a valid plan id: ${name}`,
    hint: `Rename it, for example to \`add-login.md\`. Before \`.md\` may be ${ID_RULES}.`,
  };
}

function keyOf(dir: string, id: string, has: Has): string {
  const text: StatKey | undefined = has.text ? statKey(`${dir}/${id}.md`) : undefined;
  const meta: StatKey | undefined = has.meta ? statKey(`${dir}/${id}.json`) : undefined;
  return `${text}|${meta}`;
}

/** Larger than any that prloom writes. */
const MAX_META_BYTES = 64 * 1024;

function readEntry(dir: string, id: string, has: Has): InboxEntry {
  const base = { id, hasText: has.text, hasMeta: has.meta, meta: {} };
  const text = has.text ? fileProblem(dir, `${id}.md`, MAX_TEXT_BYTES) : undefined;
  if (text !== undefined) return { ...base, hasText: false, problem: text };
  if (!has.meta) return base;
  const file = `${id}.json`;
  const problem = fileProblem(dir, file, MAX_META_BYTES);
  if (problem !== undefined) return { ...base, problem };
  try {
    const json = readTextNoFollow(dir, file, MAX_META_BYTES);
    if (json === undefined) return { ...base, hasMeta: false };
    const parsed = inboxMetaSchema.safeParse(parseJson(json));
    if (parsed.success) return { ...base, meta: parsed.data };
    const [first] = parsed.error.issues;
    const reason = `inbox/${file}: ${first?.path.join(".") || "the file"}: ${first?.message}`;
    return { ...base, problem: { file, reason } };
  } catch (error) {
    return { ...base, problem: { file, reason: `inbox/${file} cannot be read: ${messageOf(error)}` } };
  }
}

/** Only plain files are opened: a pipe would be waited for, a link or a device lead elsewhere. */
function fileProblem(dir: string, file: string, maxBytes: number): FileProblem | undefined {
  const stat = lstatIfThere(join(dir, file));
  if (!stat) return undefined;
  if (!stat.isFile()) return { file, reason: `inbox/${file} is not a regular file.` };
  if (stat.size <= maxBytes) return undefined;
  return { file, reason: `inbox/${file} is larger than ${maxBytes / 1024} KB.` };
}
