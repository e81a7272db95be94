import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { distrustPrograms, trustedPath } from "../../../src/kernel/system/find-program.ts";

test("programs are looked for outside of the checkout, wherever links lead when they are asked about", (t) => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "prloom-path-")));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const at = (name: string) => join(dir, name);
  for (const name of ["repo/bin", "tools", "later"]) mkdirSync(at(name), { recursive: true });
  symlinkSync(at("tools"), at("link"));
  const trusted = (...names: string[]) => {
    const path = trustedPath(["relative/bin", ...names.map(at)].join(delimiter));
    return path === "" ? [] : path.split(delimiter).map((folder) => folder.slice(dir.length + 1));
  };
  assert.deepEqual(trusted("later"), ["later"]);
  distrustPrograms([at("repo"), at("later")]);
  assert.deepEqual(trusted("later"), [], "one that was trusted before is not trusted for ever");
  assert.deepEqual(trusted("repo/bin", "tools", "link", "missing"), ["tools", "link", "missing"]);
  unlinkSync(at("link"));
  for (const name of ["link", "missing"]) symlinkSync(at("repo/bin"), at(name));
  assert.deepEqual(trusted("repo/bin", "tools", "link", "missing"), ["tools"]);
});
