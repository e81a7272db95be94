import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
const files = globSync("src/**/*.ts", { cwd: root });

test("the tree in CONTRIBUTING.md has every folder of src", () => {
  const [, tree = ""] = /## The tree[\s\S]*?```\n([\s\S]*?)```/.exec(page) ?? [];
  const folders = globSync("src/**/", { cwd: root }).map((folder) => basename(folder));
  assert.ok(folders.length > 50, String(folders.length));
  const missing = folders.filter((folder) => !new RegExp(`(^|[\\s/])${folder}/`, "m").test(tree));
  assert.deepEqual(missing, []);
});

test("every file that CONTRIBUTING.md sends a change to exists", () => {
  const [, rows = ""] = /## Where a change goes\n([\s\S]*?)\nWho may import whom/.exec(page) ?? [];
  const named = [...rows.matchAll(/`([\w./-]+\.(?:ts|md))`/g)].map(([, name = ""]) => name);
  assert.ok(named.length > 40, String(named.length));
  const missing = named.filter((name) => globSync([name, `src/${name}`, `src/**/${name}`], { cwd: root }).length === 0);
  assert.deepEqual(missing, []);
});

test("no two files of src export different things under one name, nor has one a type of its own under it", () => {
  const places = new Map<string, string[]>();
  const own: [name: string, file: string][] = [];
  for (const file of files) {
    const text = readFileSync(join(root, file), "utf8");
    const exported = /^export (?:async )?(?:type|interface|(?:abstract )?class|function\*?|const|let) (\w+)/gm;
    // An overload is the same name once more.
    for (const name of new Set([...text.matchAll(exported)].map(([, found = ""]) => found)))
      places.set(name, [...(places.get(name) ?? []), file]);
    for (const [, name = ""] of text.matchAll(/^(?:type|interface|(?:abstract )?class) (\w+)/gm))
      own.push([name, file]);
  }
  assert.ok(places.size > 2000, String(places.size));
  assert.ok(own.length > 300, String(own.length));
  assert.deepEqual(
    [...places].filter(([, where]) => where.length > 1),
    [],
  );
  assert.deepEqual(
    own.filter(([name, file]) => places.get(name)?.some((where) => where !== file)),
    [],
  );
});
