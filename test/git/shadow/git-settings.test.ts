import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  type GitSetting,
  loginFilesOf,
  personalSettings,
  publicSettings,
  readSettings,
  renderSettings,
  settingOf,
} from "../../../src/git/shadow/git-settings.ts";
import { plainGit, planSandbox, type Sandbox } from "../fixture.ts";

const boxes: Sandbox[] = [];
after(() => {
  for (const box of boxes) box.close();
});
async function planned(): ReturnType<typeof planSandbox> {
  const box = await planSandbox();
  boxes.push(box);
  return box;
}

const local = (key: string, value?: string): GitSetting => ({
  scope: "local",
  key,
  ...(value === undefined ? {} : { value }),
});

/** What is written, and what an agent may know of it; undefined: nothing. */
const SETTINGS: readonly [key: string, value: string, shown: string | undefined][] = [
  ["core.bare", "false", "false"],
  ["core.hookspath", ".husky", ".husky"],
  ["filter.lfs.clean", "git-lfs clean -- %f", "git-lfs clean -- %f"],
  ["remote.origin.url", "https://user:token@example.com/a.git", "https://example.com/a.git"],
  ["remote.origin.url", "https://token@example.com/a.git", "https://example.com/a.git"],
  ["remote.origin.url", "ssh://git@example.com/a.git", "ssh://git@example.com/a.git"],
  ["remote.origin.url", "ssh://git:secret@example.com/a.git", "ssh://git@example.com/a.git"],
  ["remote.origin.url", "git@example.com:a.git", "git@example.com:a.git"],
  ["credential.helper", "store", undefined],
  ["credential.https://example.com.username", "me", undefined],
  ["http.https://example.com/.extraheader", "Authorization: x", undefined],
  ["http.cookiefile", "/home/me/cookies", undefined],
  ["http.proxy", "http://me:secret@proxy:80", "http://proxy:80"],
  ["url.https://token@example.com/.insteadof", "https://example.com/", undefined],
  ["url.ssh://git@example.com/.insteadof", "https://example.com/", "https://example.com/"],
  ["sendemail.smtppass", "x", undefined],
  ["github.token", "x", undefined],
  ["include.path", "../secret", undefined],
  ["includeif.gitdir:/x/.path", "secret", undefined],
  ["imap.pass", "x", undefined],
  ["ai.apikey", "x", undefined],
  ["foo.key", "x", undefined],
  ["svn.pwd", "x", undefined],
  ["sendpack.auth", "x", undefined],
  ["lfs.customtransfer.x.args", "x", undefined],
  ["lfs.url", "https://me:x@example.com/lfs?token=x", "https://example.com/lfs"],
  ["alias.up", "!curl -H 'Authorization: x'", undefined],
  ["core.sshcommand", "sshpass -p x ssh", undefined],
  ["core.askpass", "x", undefined],
  ["filter.enc.clean", "openssl enc -k x", undefined],
  ["filter.lfs.clean", "git-lfs clean -- %f; echo x", undefined],
  ["diff.enc.textconv", "openssl enc -d -k x", undefined],
  ["merge.mine.driver", "x", undefined],
  ["remote.origin.url", "https://example.com/a.git?private_token=x", "https://example.com/a.git"],
  ["remote.origin.proxy", "http://x@p", undefined],
  ["remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*", "+refs/heads/*:refs/remotes/origin/*"],
  ["branch.main.remote", "origin", "origin"],
  ["extensions.worktreeconfig", "true", "true"],
  ["user.email", "me@example.com", "me@example.com"],
  ["user.signingkey", "x", undefined],
  ["pull.rebase", "true", "true"],
];

for (const [key, value, shown] of SETTINGS) {
  test(`a shadow's config: ${key} = ${value}`, () => {
    assert.equal(settingOf(publicSettings([local(key, value)]), key), shown);
  });
}

test("of the user's own settings an agent has who they are and how files are treated, and no more", () => {
  const own = (key: string, value: string) => ({ scope: "global", key, value });
  const settings = [
    own("user.name", "Me"),
    own("user.signingkey", "ABC"),
    own("core.autocrlf", "input"),
    own("core.sshcommand", "ssh -i key"),
    own("credential.helper", "store"),
    own("url.git@example.com:.insteadof", "x"),
    own("alias.x", "!rm"),
    own("filter.enc.clean", "openssl enc -k x"),
    own("filter.lfs.process", "git-lfs filter-process"),
  ];
  assert.deepEqual(
    personalSettings(settings).map(({ key }) => key),
    ["user.name", "core.autocrlf", "filter.lfs.process"],
  );
});

test("what is rendered is what git reads back, whatever the values hold", async () => {
  const box = await planned();
  const values = ["plain", " spaced ", 'quo"ted', "back\\slash", "tab\there", "two\nlines", "# hash ; semicolon", ""];
  const settings = [
    ...values.map((value, index) => local(`test.key${index}`, value)),
    local('branch.odd"na\\me.x.remote', "origin"),
    local("test.alone"),
  ];
  const file = join(box.dir, "config");
  writeFileSync(file, renderSettings(settings));
  const listed = execFileSync("git", ["config", "--file", file, "--list", "-z"], { encoding: "utf8" });
  const expected = settings.map(({ key, value }) => (value === undefined ? key : `${key}\n${value}`));
  assert.deepEqual(listed.split("\0").slice(0, -1), expected);
});

test("settings are read again when a file changed, and includes are resolved", async () => {
  const box = await planned();
  const { commonDir, root } = box.repo;
  assert.equal(settingOf(await readSettings(commonDir), "test.one"), undefined);
  plainGit(root, "config", "test.one", "1");
  assert.equal(settingOf(await readSettings(commonDir), "test.one"), "1");
  plainGit(root, "config", "include.path", "more");
  for (const value of ["2", "3"]) {
    writeFileSync(join(commonDir, "more"), `[test]\n\tone = ${value}\n`);
    assert.equal(settingOf(await readSettings(commonDir), "test.one"), value);
  }
  rmSync(join(commonDir, "more"));
});

test("files with logins among a person's settings are known, with those that the settings name", () => {
  const at = (file: string, key: string, value: string) => ({ scope: "system", key, value, file });
  const settings = [
    at("/etc/plain", "http.proxy", "http://proxy.example:3128"),
    at("/etc/plain", "credential.helper", "/usr/bin/helper --timeout 5"),
    at("/etc/plain", "user.signingkey", "0xABC"),
    at("/etc/address", "url.https://oauth2:word@git.example/.insteadof", "https://git.example/"),
    at("/etc/header", "http.https://git.example/.extraheader", "Authorization: Basic word"),
    at("/etc/proxy", "http.proxy", "http://me:word@proxy.example:3128"),
    at("/etc/plain", "credential.https://git.example.helper", "store --file=/srv/logins"),
    at("/etc/plain", "http.cookiefile", "/srv/cookies"),
    at("/etc/plain", "core.sshcommand", "ssh -i '/srv/key' -F none"),
  ];
  const held = ["/etc/address", "/etc/header", "/etc/proxy"];
  assert.deepEqual(loginFilesOf(settings), [...held, "/srv/logins", "/srv/cookies", "/srv/key"]);
});
