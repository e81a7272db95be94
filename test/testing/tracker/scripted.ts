import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AuthorPermission, HeardPost, NewPost, Posted, Tracker, TrackerAuthor, TrackerPost } from "prloom/plugin";

export interface ScriptedConfig {
  /** Where its posts lie: whatever is killed, they stay. */
  readonly dir: string;
  /** How many characters a post may have, marker included. */
  readonly limit: number;
}

export type TrackerCall = "post" | "edit" | "own" | "standing" | "since" | "permissionOf" | "self";

/** `lost`: it is done, and the answer never arrives. `500`: it is not done, and the tracker says so. `422`: it never will be. */
export type Mood = "lost" | "500" | "422" | "slow" | "fine";

/** A tracker that does what a test says: it limits lengths, fails, is slow, loses answers, and lets posts be edited and deleted. */
export interface ScriptedTracker extends Tracker {
  /** How the next calls go, in order; the last one with `!` stays so. */
  script(call: TrackerCall, ...moods: (Mood | `${Mood}!`)[]): void;
  /** A person writes. */
  write(thread: string, author: TrackerAuthor, body: string): string;
  change(ref: string, body: string): void;
  remove(ref: string): void;
  /** All posts of a thread as they are shown, with their markers. */
  shown(thread: string): StoredPost[];
  people(permissions: Readonly<Record<string, AuthorPermission>>): void;
  /** From now on it finds no post of ours again, though they are shown. */
  forget(): void;
}

export interface StoredPost {
  readonly ref: string;
  readonly thread: string;
  readonly author: TrackerAuthor;
  readonly body: string;
  readonly at: string;
  readonly edited: boolean;
}

const SELF: TrackerAuthor = { login: "prloom-bot", id: "1" };
/** For the marker of a post. */
const MARKER = 340;
const SLOW_MS = 40;

export function openScripted({ dir, limit }: ScriptedConfig): ScriptedTracker {
  const posts = join(dir, "posts");
  mkdirSync(posts, { recursive: true });
  const pathOf = (ref: string): string => join(posts, `${ref}.json`);
  const replace = (path: string, text: string): void => {
    writeFileSync(`${path}.part`, text);
    renameSync(`${path}.part`, path);
  };
  const readAll = (): StoredPost[] =>
    readdirSync(posts)
      .filter((name) => name.endsWith(".json"))
      .map((name) => Number.parseInt(name, 10))
      .toSorted((a, b) => a - b)
      .flatMap((number) => read(pathOf(String(number))));
  const people = join(dir, "people.json");
  const add = (thread: string, author: TrackerAuthor, body: string): string => {
    const ref = String(nextNumber(posts));
    replace(pathOf(ref), JSON.stringify({ ref, thread, author, body, at: new Date().toISOString(), edited: false }));
    return ref;
  };
  /** What is said before and after the effect of a call. */
  const during = async <T>(call: TrackerCall, effect: () => T): Promise<T | Exclude<Posted, { success: true }>> => {
    const mood = nextMood(join(dir, `script-${call}`), replace);
    if (mood === "slow") await sleep(SLOW_MS);
    if (mood === "500") return { success: false, error: "500", retryable: true, retryAfterMs: 30 };
    if (mood === "422") return { success: false, error: "422: the body is not accepted", retryable: false };
    const done = effect();
    if (mood === "lost") throw new Error("the connection was closed before the answer came");
    return done;
  };
  const asked = async <T>(call: TrackerCall, effect: () => T): Promise<T> => {
    const answer = await during(call, effect);
    if (typeof answer === "object" && answer !== null && "success" in answer && !answer.success) {
      throw new Error(answer.error);
    }
    return answer as T;
  };
  const tooLong = (body: string): Posted | undefined =>
    body.length <= limit
      ? undefined
      : { success: false, error: `422: the body is too long (maximum is ${limit} characters)`, retryable: false };
  const marked = ({ id, body }: NewPost): string => `${body}\n\n<!-- prloom:${id} -->`;
  return {
    maxLength: limit - MARKER,
    addressOf: ({ system, id }) => (system === "scripted" ? { target: "scripted", token: id } : undefined),
    self: () => asked("self", () => SELF),
    permissionOf: ({ login }) =>
      asked("permissionOf", () => {
        const known = existsSync(people) ? JSON.parse(readFileSync(people, "utf8")) : {};
        return (known[login] ?? "none") as AuthorPermission;
      }),
    post: (thread, post) =>
      during("post", (): Posted => tooLong(marked(post)) ?? { success: true, ref: add(thread, SELF, marked(post)) }),
    edit: (_thread, ref, post) =>
      during("edit", (): Posted | "gone" => {
        const [before] = read(pathOf(ref));
        if (!before) return "gone";
        const refused = tooLong(marked(post));
        if (refused) return refused;
        replace(pathOf(ref), JSON.stringify({ ...before, body: marked(post), edited: true }));
        return { success: true, ref };
      }),
    own: (thread, ids) =>
      asked("own", () => {
        const found = existsSync(join(dir, "forgets")) ? [] : readAll().filter((post) => post.thread === thread);
        return new Map<string, TrackerPost>(
          found
            .map(seen)
            .flatMap((post) => (post.own !== undefined && ids.includes(post.own) ? [[post.own, post]] : [])),
        );
      }),
    standing: (_thread, ref) =>
      asked("standing", () => {
        const [post] = read(pathOf(ref));
        return !post ? "gone" : post.edited ? "edited" : "as-written";
      }),
    since: (threads, next) =>
      asked("since", () => {
        const all = readAll();
        const heard = next === undefined ? [] : all.filter(({ ref }) => Number(ref) > Number(next));
        return {
          posts: heard.filter(({ thread }) => threads.includes(thread)).map(seen),
          next: all.at(-1)?.ref ?? "0",
        };
      }),
    script: (call, ...moods) => replace(join(dir, `script-${call}`), moods.join("\n")),
    write: add,
    change(ref, body) {
      const [before] = read(pathOf(ref));
      replace(pathOf(ref), JSON.stringify({ ...before, body, edited: true }));
    },
    remove: (ref) => rmSync(pathOf(ref)),
    shown: (thread) => readAll().filter((post) => post.thread === thread),
    forget: () => writeFileSync(join(dir, "forgets"), ""),
    people: (permissions) => replace(people, JSON.stringify(permissions)),
  };
}

function read(path: string): StoredPost[] {
  return existsSync(path) ? [JSON.parse(readFileSync(path, "utf8")) as StoredPost] : [];
}

/** Numbers are given once, also to two processes, and never again after a post was deleted. */
function nextNumber(posts: string): number {
  for (let number = readdirSync(posts).filter((name) => name.endsWith(".taken")).length + 1; ; number += 1) {
    try {
      writeFileSync(join(posts, `${number}.taken`), "", { flag: "wx" });
      return number;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

function nextMood(path: string, replace: (path: string, text: string) => void): Mood {
  const [next = "fine", ...rest] = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  if (next.endsWith("!")) return next.slice(0, -1) as Mood;
  if (next !== "fine" || rest.length > 0) replace(path, rest.length > 0 ? rest.join("\n") : "fine");
  return next as Mood;
}

/** Ours is what we wrote and has our marker. */
function seen({ ref, thread, author, body, at, edited }: StoredPost): HeardPost {
  const [, text = "", id] = /^([\s\S]*)\n\n<!-- prloom:(\S+) -->$/.exec(body) ?? [];
  const isOwn = id !== undefined && author.id === SELF.id;
  return { ref, thread, author, body: isOwn ? text : body, at, edited, ...(isOwn ? { own: id } : {}) };
}
