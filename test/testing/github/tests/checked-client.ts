import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import type { FakeGitHub } from "../fake-github.ts";

interface Described {
  readonly operations: Record<string, Record<string, object | null>>;
  readonly components: { readonly schemas: Record<string, object> };
}

const described = JSON.parse(readFileSync(new URL("../schema/rest.json", import.meta.url), "utf8")) as Described;
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema({ $id: "github", components: described.components });
const checks = new Map<string, ValidateFunction>();

/** How GitHub's description names what was asked. */
function operationOf(method: string, path: string): string | undefined {
  return Object.keys(described.operations)
    .filter((name) => {
      const [verb = "", pattern = ""] = name.split(" ");
      return (
        verb === method && new RegExp(`^${pattern.replace(/\{ref\}/, ".+").replace(/\{\w+\}/g, "[^/]+")}$`).test(path)
      );
    })
    .sort((one, other) => one.split("{").length - other.split("{").length)[0];
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all kinds.
  readonly body: any;
}

export interface Asking {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asks as the owner of a token; an answer that differs from GitHub's published description fails the test. */
export function clientOf(github: FakeGitHub, token: string): (what: string, asking?: Asking) => Promise<Answered> {
  return async (what, { body, headers } = {}) => {
    const [method = "GET", path = ""] = what.split(" ");
    const response = await fetch(github.apiUrl + path, {
      method,
      redirect: "manual",
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") && text !== "";
    const answered = { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
    if (response.ok) requireDescribed(method, path.split("?")[0] ?? "", answered);
    return answered;
  };
}

function requireDescribed(method: string, path: string, { status, body }: Answered): void {
  const operation = operationOf(method, path);
  if (operation === undefined) return;
  const schema = described.operations[operation]?.[status];
  assert.notEqual(schema, undefined, `${operation} does not answer ${status}`);
  if (schema === null) return;
  const key = `${operation} ${status}`;
  const check = checks.get(key) ?? ajv.compile(rooted(schema) as object);
  checks.set(key, check);
  const wrong = check(body) ? [] : (check.errors ?? []).slice(0, 5);
  assert.deepEqual(wrong, [], `${key} differs from GitHub's description`);
}

/** References into the one document that all operations share. */
function rooted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rooted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, key === "$ref" ? `github${one}` : rooted(one)]);
  return Object.fromEntries(entries);
}
