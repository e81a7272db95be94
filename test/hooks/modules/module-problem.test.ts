import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { it } from "node:test";
import { loadPlugins } from "../../../src/hooks/modules/load-plugins.ts";
import { inTemporary } from "../fixture.ts";

const PLUGIN = "export default (config) => ({ onEvent: () => config.word });";

type Case = [name: string, files: Record<string, string>, module: string, problem: RegExp, hint: RegExp];

const CASES: Case[] = [
  ["syntax", { "a.mjs": "let x;\nexport default (;" }, "./a.mjs", /used: \.\/a\.mjs:2:17: Unexpe/, /enabled/],
  [
    "syntax of what it imports",
    { "p/a.mjs": 'import "./b.mjs";', "p/b.mjs": "const é = ;" },
    "./p/a.mjs",
    /used: \.\/p\/b\.mjs:1:11: Unexpected token ';'\.$/,
    /enabled/,
  ],
  ["CommonJS syntax", { "a.cjs": "\n  (;" }, "./a.cjs", /used: \.\/a\.cjs:2:4: Unexpected/, /enabled/],
  ["TypeScript syntax", { "a.ts": "let x: number;\nlet y: = 1;" }, "./a.ts", /used: \.\/a\.ts:2(:\d+)?: /, /enabled/],
  ["enum", { "a.ts": "let x: number;\n enum A { B }" }, "./a.ts", /used: \.\/a\.ts:2:2: .*enum/, /enabled/],
  [
    "a name that is not exported",
    { "a.mjs": 'import { b } from "./b.mjs";', "b.mjs": "" },
    "./a.mjs",
    /used: \.\/a\.mjs:1:10: .*'b'/,
    /enabled/,
  ],
  [
    "no dot",
    { "prloom/a.ts": PLUGIN },
    "prloom/a.ts",
    /no package "prloom\/a\.ts", but a file of that name; did you mean \.\/prloom\/a\.ts\?$/,
    /Write "module": "\.\/prloom\/a\.ts"/,
  ],
  [
    "CommonJS repository",
    { "package.json": '{"type": "commonjs"}', "prloom/plugins/a.ts": 'import "prloom/plugin";' },
    "./prloom/plugins/a.ts",
    /used: \.\/prloom\/plugins\/a\.ts:1:1: Cannot use import/,
    /^\.\/package\.json says "type": "commonjs"\. Make prloom\/package\.json with \{"type": "module"\}, or call it \.mts\.$/,
  ],
  [
    "ES module in CommonJS",
    { "p/package.json": '{"type": "commonjs"}', "p/a.js": PLUGIN },
    "./p/a.js",
    /Unexpected token 'export'/,
    /Make p\/package\.json with \{"type": "module"\}, or call it \.mjs\.$/,
  ],
  ["full stop", { "a.mjs": 'throw new Error("No.");' }, "./a.mjs", /: No\.$/, /enabled/],
];

for (const [name, files, module, problem, hint] of CASES) {
  it(`says where the error in a module is, and what to write instead: ${name} (K6, K21)`, () =>
    inTemporary(async (repoRoot) => {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(repoRoot, path)), { recursive: true });
        writeFileSync(join(repoRoot, path), text);
      }
      const loading = loadPlugins({ repoRoot, kind: "plan", entries: [{ name: "mine", module, config: {} }] });
      await assert.rejects(loading, { code: "plugin-invalid", message: problem, hint });
    }));
}
