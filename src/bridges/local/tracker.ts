import type { AuthorPermission } from "../../bus/author.ts";
import { type Cursor, type Log, START } from "../../bus/ports.ts";
import type { HeardPost, Tracker, TrackerPost } from "../tracker/port.ts";
import { LOCAL_TARGET, localPost, postsIn, saidIn } from "./thread.ts";

/** What authors may do who comment from a command line; the person who can run prloom here can write to the repository. */
export type Authors = Readonly<Record<string, AuthorPermission>>;

/** Logins are compared without their case, as trackers do. */
export function permissionOf(authors: Authors, login: string): AuthorPermission {
  const own = Object.entries(authors).find(([name]) => name.toLowerCase() === login.toLowerCase());
  return own?.[1] ?? "write";
}

/** The threads that people have with plans on this machine, by the ids of plans. */
export function localTracker({ log, authors = () => ({}) }: { log: Log; authors?: () => Authors }): Tracker {
  return {
    maxLength: Number.MAX_SAFE_INTEGER,
    addressOf: ({ system, id }) => (system === LOCAL_TARGET ? { target: LOCAL_TARGET, token: id } : undefined),
    // A name that no person comments with: what is posted here is posted by the dispatcher.
    self: () => ({ login: "prloom", id: "prloom" }),
    permissionOf: ({ login }) => permissionOf(authors(), login),
    post(thread, { id, body }) {
      localPost(log, thread, { actionId: id, body });
      return { success: true, ref: id };
    },
    edit(thread, ref, { id, body }) {
      if (!postsIn(log, thread).some((post) => post.ref === ref)) return "gone";
      localPost(log, thread, { actionId: id, body, edits: ref });
      return { success: true, ref };
    },
    own(thread, ids) {
      const wanted = new Set(ids);
      const found = postsIn(log, thread).filter(({ own }) => own !== undefined && wanted.has(own));
      return new Map<string, TrackerPost>(found.map((post) => [post.own ?? "", post]));
    },
    since(threads, next) {
      const known = JSON.parse(next ?? "{}") as Record<string, Cursor>;
      const ends = { ...known };
      const posts = threads.flatMap((thread): HeardPost[] => {
        const said = saidIn(log, thread, known[thread] ?? START);
        ends[thread] = said.next;
        // A thread that was not there at the first look began after it.
        return next === undefined ? [] : said.posts.map((post) => ({ ...post, thread }));
      });
      return { posts: posts.sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at))), next: JSON.stringify(ends) };
    },
  };
}
