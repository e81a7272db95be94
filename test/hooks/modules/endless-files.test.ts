import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { importModule } from "../../../src/hooks/modules/import-module.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "prloom-endless-")));
after(() => rmSync(base, { recursive: true, force: true }));

interface Case {
  readonly what: string;
  readonly module: string;
  readonly files: Readonly<Record<string, string>>;
  /** Links, by where they lie. */
  readonly links?: Readonly<Record<string, string>>;
  /** The folder whose package.json is a device. */
  readonly device: string;
}

const CASES: readonly Case[] = [
  {
    what: "main",
    module: 'import "x";',
    files: { "node_modules/x/package.json": '{"main":"lib/a.js"}', "node_modules/x/lib/a.js": "" },
    device: "node_modules/x/lib",
  },
  {
    what: "main-folder",
    module: 'import "x";',
    files: { "node_modules/x/package.json": '{"main":"lib"}', "node_modules/x/lib/index.js": "" },
    device: "node_modules/x/lib",
  },
  {
    what: "exports",
    module: 'import "x";',
    files: {
      "node_modules/x/package.json": '{"exports":{".":{"import":"./dist/es/a.js"}}}',
      "node_modules/x/dist/es/a.js": "",
    },
    device: "node_modules/x/dist",
  },
  {
    what: "star",
    module: 'import "x/parts/deep/a";',
    files: {
      "node_modules/x/package.json": '{"exports":{"./parts/*":"./src/*.js"}}',
      "node_modules/x/src/deep/a.js": "",
    },
    device: "node_modules/x/src/deep",
  },
  {
    what: "imports",
    module: 'import "#own";',
    files: { "package.json": '{"imports":{"#own":"./own/a.js"}}', "own/a.js": "" },
    device: "own",
  },
  {
    what: "required-folder",
    module: 'import { createRequire } from "node:module"; createRequire(import.meta.url)("./part");',
    files: { "part/index.js": "" },
    device: "part",
  },
  {
    what: "link",
    module: 'import "./a.js";',
    files: { "real/deep/a.js": "" },
    links: { "a.js": "real/deep/a.js" },
    device: "real",
  },
];

function place(root: string, { module, files, links = {}, device }: Case): void {
  for (const [path, text] of Object.entries({ ...files, "main.mjs": `${module}\nexport default "loaded";\n` })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  for (const [path, to] of Object.entries(links)) symlinkSync(to, join(root, path));
  symlinkSync("/dev/zero", join(root, device, "package.json"));
}

for (const one of CASES)
  test(`no device is read beside the file that a module is in: ${one.what}`, { timeout: 60_000 }, async () => {
    const root = join(base, one.what);
    place(root, one);
    const load = (specifier: string) => importModule({ repoRoot: root, specifier });
    await assert.rejects(load("./main.mjs"), /package\.json is not a regular file/);
    // The same with a file there is loaded.
    rmSync(join(root, one.device, "package.json"));
    writeFileSync(join(root, one.device, "package.json"), "{}");
    writeFileSync(join(root, "again.mjs"), `${one.module}\nexport default "loaded";\n`);
    assert.equal(await load("./again.mjs"), "loaded");
  });
