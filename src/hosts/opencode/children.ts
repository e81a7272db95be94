import type { Policy } from "../../governance/policy/policy-file.ts";
import { inBoth, kindsOf } from "../../governance/policy/tools/listed.ts";
import { asFields, asString, type JsonFields } from "../../kernel/json-fields.ts";
import type { Governor } from "../governor.ts";
import type { OpenCodeClient, PermissionRule } from "./types.ts";

/** OpenCode's names for what a kind of tool needs. */
const PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  write: ["edit"],
  edit: ["edit"],
  shell: ["bash", "govern_shell"],
  delegate: ["task", "govern_delegate"],
  web: ["webfetch", "websearch"],
};

/** Sessions of sub-agents: each is bound to a task, and loses the tools it may not use, before its model is asked. */
export class Children {
  readonly #governor: Governor;
  readonly #client: OpenCodeClient;
  readonly #bound = new Map<string, Promise<void>>();
  /** Sessions that no other one started: the run's own. */
  readonly #tops = new Set<string>();

  constructor(governor: Governor, client: OpenCodeClient) {
    this.#governor = governor;
    this.#client = client;
  }

  async heard({ type, properties }: { type: string; properties?: unknown }): Promise<void> {
    if (type === "message.part.updated") return this.#heardPart(asFields(asFields(properties).part));
    const info = asFields(asFields(properties).info);
    const id = asString(info.id);
    if (type !== "session.deleted" || id === undefined) return;
    this.#bound.delete(id);
    this.#tops.delete(id);
    this.#governor.released(id);
  }

  /** A tool that failed has no hook of its own. */
  async #heardPart({ callID, sessionID, state }: JsonFields): Promise<void> {
    const [id, session] = [asString(callID), asString(sessionID)];
    if (asFields(state).status === "error" && id !== undefined && session !== undefined)
      await this.#governor.failed({ id, session });
  }

  /** Called before the first message of a session reaches its model, and before each tool. */
  async bind(session: string): Promise<void> {
    if (this.#bound.has(session)) return this.#bound.get(session);
    const { data } = await this.#client.session.get({ path: { id: session } });
    if (!data) throw new Error(`OpenCode does not know the session ${session}`);
    if (data.parentID === undefined) {
      this.#tops.add(session);
      this.#bound.set(session, Promise.resolve());
      return;
    }
    await this.#bindOnce(session, data.parentID);
  }

  /** Ends all of the run: a sub-agent that is ended alone leaves its parent to try the same. */
  async endAll(session: string): Promise<void> {
    for (const id of new Set([session, ...this.#tops])) await this.#client.session.abort({ path: { id } });
  }

  #bindOnce(session: string, parent: string): Promise<void> {
    const before = this.#bound.get(session);
    if (before) return before;
    const binding = this.#bindChild(session, parent);
    this.#bound.set(session, binding);
    return binding;
  }

  /** The call that started a session: several can be under way at once, and some of them start none. */
  async #callOf(session: string, parent: string): Promise<string | undefined> {
    const { data = [] } =
      (await this.#client.session.messages?.({ path: { id: parent }, query: { limit: NEWEST } })) ?? {};
    const parts = data.flatMap(({ parts: all }) => all);
    return parts.find(({ state }) => asFields(asFields(state).metadata).sessionId === session)?.callID;
  }

  async #bindChild(session: string, parent: string): Promise<void> {
    const policy = await this.#governor.childStarted(session, parent, await this.#callOf(session, parent));
    const permission = denied(policy);
    if (permission.length > 0) await this.#client.session.update({ path: { id: session }, body: { permission } });
  }
}

/** A call is among the newest messages of its session when the sub-agent that it started begins. */
const NEWEST = 20;

/** What a policy takes away is not even offered. Rules about paths and states stay with the judge. */
function denied({ role, tools }: Policy): PermissionRule[] {
  const has = tools === null ? role.tools : inBoth(role.tools, tools);
  // One permission stands for several tools: it goes when none of them is left.
  const kept = new Set(has.flatMap(kindsOf).flatMap((kind) => PERMISSIONS[kind] ?? []));
  const names = new Set(Object.values(PERMISSIONS).flat());
  return [...names]
    .filter((name) => !kept.has(name))
    .map((permission) => ({ permission, pattern: "*", action: "deny" }));
}
