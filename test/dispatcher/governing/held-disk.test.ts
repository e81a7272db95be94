import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { heldDisk } from "../../../src/dispatcher/governing/held-disk.ts";
import { ProtectedFiles } from "../../../src/hosts/protected-files.ts";
import { governedFiles } from "../../hosts/run.ts";

const files = governedFiles();
after(() => files.remove());

test("puts back through no link that an agent has put in the way", async () => {
  const { root } = files;
  const git = join(root, ".git");
  const disk = heldDisk({ path: root, name: "p", gitDir: git, commonDir: git });
  for (const folder of [".claude", "deep/lib"]) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, ".claude", "settings.json"), "{}\n", { mode: 0o640 });
  writeFileSync(join(root, "deep", "lib", "deploy.yml"), "deploy\n");
  symlinkSync("settings.json", join(root, ".claude", "link.json"));
  execFileSync("git", ["-C", root, "add", "-A"]);
  const kept = new ProtectedFiles({ root, protected: [".claude", "**/deploy.yml"] }, disk);
  await kept.begin();
  assert.deepEqual(await kept.putBack(), []);

  const outside = join(root, "..", "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "settings.json"), "theirs\n");
  rmSync(join(root, ".claude"), { recursive: true });
  symlinkSync(outside, join(root, ".claude"));
  renameSync(join(root, "deep", "lib"), join(outside, "lib"));
  symlinkSync(join(outside, "lib"), join(root, "deep", "lib"));
  writeFileSync(join(outside, "lib", "deploy.yml"), "theirs\n");
  const back = await kept.putBack();
  for (const name of [".claude/settings.json", ".claude/link.json", "deep/lib/deploy.yml"])
    assert(back.includes(name), `${name} among ${back}`);
  assert.equal(readFileSync(join(root, ".claude", "settings.json"), "utf8"), "{}\n");
  assert.equal(readFileSync(join(root, "deep", "lib", "deploy.yml"), "utf8"), "deploy\n");
  assert(lstatSync(join(root, ".claude", "link.json")).isSymbolicLink());
  assert.equal(lstatSync(join(root, ".claude", "settings.json")).mode & 0o777, 0o640);
  for (const name of ["settings.json", "lib/deploy.yml"])
    assert.equal(readFileSync(join(outside, name), "utf8"), "theirs\n", name);
  assert(!existsSync(join(outside, "link.json")));
});

test("takes away what is not named in UTF-8", async () => {
  const { root } = files;
  const git = join(root, ".git");
  const kept = new ProtectedFiles(
    { root, protected: [".codex"] },
    heldDisk({ path: root, name: "p", gitDir: git, commonDir: git }),
  );
  await kept.begin();
  const folder = Buffer.concat([Buffer.from(join(root, ".codex/")), Buffer.from([0xff])]);
  mkdirSync(folder, { recursive: true });
  writeFileSync(Buffer.concat([folder, Buffer.from("/rules.md")]), "evil\n");
  assert.equal((await kept.putBack()).length, 1);
  assert(!existsSync(Buffer.concat([folder, Buffer.from("/rules.md")])));
});
