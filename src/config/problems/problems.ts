import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { z } from "zod";
import { PARSED_ONCE } from "../../kernel/json.ts";
import type { Config } from "../config.ts";
import { configSchema } from "../schema/schema.ts";
import { governanceProblems } from "./governance-problems.ts";
import { moduleProblems } from "./module-problems.ts";
import { didYouMean } from "./nearest.ts";
import { type Path, referenceProblems, type ValueProblem, valueAt } from "./references.ts";
import { unknownKey } from "./unknown-key.ts";

/** One thing that is wrong with the config, where it is. Lines and columns count from 1. */
export interface ConfigProblem {
  readonly line: number;
  readonly column: number;
  /** Dotted path; empty for the file as a whole. */
  readonly key: string;
  readonly message: string;
}

export type CheckedConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: ConfigProblem[] };

type PlacedProblem = ValueProblem & { readonly offset: number };

const SYNTAX: Readonly<Record<string, string>> = {
  InvalidCommentToken: "comments are not allowed",
  PropertyNameExpected: "a key in double quotes is expected here; is there a comma too many?",
  ValueExpected: "a value is expected here; is there a comma too many?",
  CommaExpected: "a comma is missing",
  ColonExpected: "a colon is missing",
  CloseBraceExpected: "a closing } is missing",
  CloseBracketExpected: "a closing ] is missing",
  EndOfFileExpected: "nothing may follow the closing }",
};

/*
 * A dispatcher looks at whatever branch is checked out, and a stranger's can bring any file. Where mistakes are is found by going through the
 * text for each, and what was meant by comparing names with names: nobody reads more of them, and no honest config has more values.
 */
const MAX_TOLD = 30;
const MAX_VALUES = 2000;

/** The first of each line: what a parser meets behind a mistake is mostly made by it. */
function syntaxProblems(text: string, errors: readonly ParseError[]): PlacedProblem[] {
  const lines = new Set<number>();
  return errors.slice(0, MAX_TOLD).flatMap(({ error, offset }) => {
    const line = text.lastIndexOf("\n", offset - 1);
    if (lines.has(line)) return [];
    lines.add(line);
    const code = printParseErrorCode(error);
    return [{ offset, path: [], message: SYNTAX[code] ?? code.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase() }];
  });
}

/** The value of a tree; unlike the library's own, a key called `__proto__` is a key. */
function valueIn(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(valueIn);
  if (node.type !== "object") return node.value;
  const entries = (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
    key && value ? [[String(key.value), valueIn(value)] as const] : [],
  );
  return Object.fromEntries(entries);
}

/** Keys that are there twice, of which JSON silently takes the last, and keys that no object should have. */
function keyProblems(node: Node, path: Path = []): PlacedProblem[] {
  const found: PlacedProblem[] = [];
  const seen = new Set<string>();
  for (const [index, child] of (node.children ?? []).entries()) {
    if (node.type === "array") found.push(...keyProblems(child, [...path, index]));
    if (child.type !== "property") continue;
    const [keyNode, value] = child.children ?? [];
    const key = String(keyNode?.value);
    const at = { offset: child.offset, path: [...path, key] };
    if (seen.has(key)) found.push({ ...at, message: "is given twice" });
    if (key === "__proto__") found.push({ ...at, message: "unknown key" });
    seen.add(key);
    if (value) found.push(...keyProblems(value, at.path));
  }
  return found;
}

/** Keys and values, with all that is in them. */
function countIn({ type, children = [] }: Node): number {
  return children.reduce((count, child) => count + countIn(child), type === "property" ? 0 : 1);
}

function offsetOf(root: Node, path: Path): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(
      root,
      path.slice(0, length).map((step) => (typeof step === "number" ? step : String(step))),
    );
    // A property is shown where its key is; what is missing, where its object is.
    if (node) return node.parent?.type === "property" ? node.parent.offset : node.offset;
  }
  return root.offset;
}

/** A value that is none of those that there are. */
function noSuchValue(path: Path, given: unknown, values: readonly string[]): ValueProblem {
  const choice = `must be ${values.map((one) => `"${one}"`).join(" or ")}`;
  if (given === undefined) return { path, message: `is missing: ${choice}` };
  return { path, message: `${choice}${didYouMean(String(given), values)}` };
}

function schemaProblems(value: unknown, issues: readonly z.core.$ZodIssue[]): ValueProblem[] {
  return issues.flatMap((issue): ValueProblem[] => {
    const { path } = issue;
    const given = valueAt(value, path);
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(path, key) }));
    }
    if (issue.code === "invalid_value") return [noSuchValue(path, given, issue.values.map(String))];
    if (issue.code === "invalid_union" && "options" in issue && Array.isArray(issue.options)) {
      return [noSuchValue(path, given, issue.options.map(String))];
    }
    if (issue.code === "invalid_key") return [{ path, message: issue.issues[0]?.message ?? issue.message }];
    return [{ path, message: given === undefined ? `is missing: ${issue.message}` : issue.message }];
  });
}

function located(text: string, found: readonly PlacedProblem[]): ConfigProblem[] {
  const inOrder = [...found].sort((one, other) => one.offset - other.offset);
  return inOrder.map(({ offset, path, ...rest }) => {
    const before = text.slice(0, offset).split("\n");
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, key: path.map(String).join("."), ...rest };
  });
}

/** Checks the text of a config file and names everything that is wrong with it. */
export function checkConfig(source: string): CheckedConfig {
  if (last?.source !== source) last = { source, checked: checkNested(source) };
  return last.checked;
}

/** The parser and what looks at its tree go down with the text, and a branch can bring any. */
function checkNested(source: string): CheckedConfig {
  try {
    return check(source);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { ok: false, problems: located(source, [{ offset: 0, path: [], message: "it is nested too deep" }]) };
  }
}

/** Of the working tree and of the pin: they mostly say the same, and several parts of a start ask. */
let last: { readonly source: string; readonly checked: CheckedConfig } | undefined;

function check(source: string): CheckedConfig {
  const text = source.replace(/^\ufeff/, "");
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  const syntax = syntaxProblems(text, errors);
  const onlyComments = errors.every(({ error }) => printParseErrorCode(error) === "InvalidCommentToken");
  if (!root || !onlyComments) return { ok: false, problems: located(text, syntax) };
  const refused = (message: string): CheckedConfig => {
    return { ok: false, problems: located(text, [{ offset: root.offset, path: [], message }]) };
  };
  if (root.type !== "object") return refused("must be an object: { … }");
  if (countIn(root) > MAX_VALUES) return refused(`it has more than ${MAX_VALUES} keys and values`);
  const value = valueIn(root);
  const parsed = configSchema.safeParse(value, PARSED_ONCE);
  const wrong = [
    ...schemaProblems(value, parsed.error?.issues ?? []),
    ...referenceProblems(value),
    ...moduleProblems(value),
    ...governanceProblems(value),
  ];
  const found = [
    ...syntax,
    ...keyProblems(root).slice(0, MAX_TOLD),
    ...wrong.slice(0, MAX_TOLD).map((problem) => ({ ...problem, offset: offsetOf(root, problem.path) })),
  ];
  if (found.length > 0 || !parsed.success) return { ok: false, problems: located(text, found) };
  return { ok: true, config: parsed.data };
}
