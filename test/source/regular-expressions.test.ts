import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { parseSync, Visitor } from "oxc-parser";
import { analyse } from "scslre";

const FILES = globSync("src/**/*.ts").sort();

/** Where the text that they read is short, and what makes it so. */
const SHORT: Readonly<Record<string, string>> = {
  "src/governance/shell/programs/elsewhere/databases.ts": "statements are cut off at MAX_STATEMENTS",
  "src/governance/shell/programs/files/editors.ts": "programs of awk and sed are cut off at MAX_SCRIPT",
  "src/governance/shell/programs/shells.ts": "expressions that only tell something have at most MAX_TELLING characters",
  "src/plan/markdown/html-block.ts": "a part of a larger one, which is anchored and reads at most MAX_TAG_LINE",
};

/** How its time grows faster than the text that it reads; undefined where the library finds no such thing. */
function fault(source: string, flags: string): string | undefined {
  // The library does not know these sets of strings.
  if (flags.includes("v")) return undefined;
  const [report] = analyse({ source, flags }, { maxReports: 1 }).reports;
  return report && `/${source}/${flags} is ${report.exponential ? "exponential" : "quadratic or worse"}`;
}

function written(file: string): { readonly pattern: string; readonly flags: string }[] {
  const found: { pattern: string; flags: string }[] = [];
  const visitor = new Visitor({
    Literal(node) {
      if ("regex" in node) found.push(node.regex);
    },
  });
  visitor.visit(parseSync(file, readFileSync(file, "utf8")).program);
  return found;
}

test("each regular expression takes time linear in the text", () => {
  const faults = FILES.flatMap((file) =>
    written(file).flatMap(({ pattern, flags }) => {
      const why = fault(pattern, flags);
      return why === undefined || file in SHORT ? [] : [`${file}: ${why}`];
    }),
  );
  assert.deepEqual(faults, []);
});

test("so does each one that a module puts together when it is loaded", async (t) => {
  const made: RegExp[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct(target, args) {
      const one: RegExp = Reflect.construct(target, args);
      made.push(one);
      return one;
    },
  });
  t.after(() => {
    globalThis.RegExp = original;
  });
  const composing = FILES.filter((file) =>
    /^(?:export )?const .*\bnew RegExp\(|^ {2}new RegExp\(/m.test(readFileSync(file, "utf8")),
  );
  for (const file of composing) await import(pathToFileURL(file).href);
  globalThis.RegExp = original;
  assert.ok(made.length >= composing.length);
  assert.deepEqual(
    made.flatMap(({ source, flags }) => fault(source, flags) ?? []),
    [],
  );
});
