import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ask, fakeFiles, policy, ROOT, ruleOf } from "./fixtures.ts";

const read = (path: string, secrets: string[] = []) =>
  ruleOf(ask("read", { filePath: path }, { policy: policy({ secrets }) }));
const cat = (path: string, secrets: string[] = []) =>
  ruleOf(ask("bash", { command: `cat ${path}` }, { policy: policy({ secrets }) }));

const SECRET = [".env", ".ENV", ".env.local", ".envrc", "certs/server", "certs/server.key", "token.json", "x.PEM"];
const HOMES = ["/home/person/.docker/config.json", "/home/person/.ssh/identity", "/home/person/.AWS/credentials"];
const ORDINARY = ["src/identity.ts", "src/tokens.json", ".docker/nginx.conf", "certs/README.md", ".env.example"];

describe("by their names alone", () => {
  for (const path of [...SECRET, ...HOMES])
    test(`${path} is secret`, () => assert.deepEqual([read(path), cat(path)], ["path scope", "shell safety"]));
  for (const path of ORDINARY)
    test(`${path} is not`, () => assert.deepEqual([read(path), cat(path)], ["allowed", "allowed"]));
});

describe("with ! in the config", () => {
  const secrets = ["ops/**", "!docs/*.key", "!ops/README.md", "!link.key"];
  const rows: [path: string, isSecret: boolean][] = [
    ["docs/talk.key", false],
    [`${ROOT}/docs/talk.key`, false],
    ["ops/README.md", false],
    ["ops/prod.yml", true],
    ["src/talk.key", true],
    ["/home/person/docs/talk.key", true],
  ];
  for (const [path, isSecret] of rows)
    test(`${path} is ${isSecret ? "" : "not "}secret`, () => {
      const expected = isSecret ? ["path scope", "shell safety"] : ["allowed", "allowed"];
      assert.deepEqual([read(path, secrets), cat(path, secrets)], expected);
    });
  test("a link is judged by where it leads", () => {
    const asked = {
      policy: policy({ secrets }),
      files: fakeFiles({ [`${ROOT}/link.key`]: "/home/person/.ssh/id_rsa" }),
    };
    assert.equal(ruleOf(ask("read", { filePath: "link.key" }, asked)), "path scope");
    assert.equal(ruleOf(ask("bash", { command: "cat link.key" }, asked)), "shell safety");
  });
});

const MANY = Array.from({ length: 200 }, (_, at) => at).join(",");

describe("patterns that can mean a secret", () => {
  const asked = { policy: policy({ secrets: ["config/prod.json"] }), host: "claude" } as const;
  const rows: [input: object, expected: string][] = [
    [{ path: "config", glob: "prod*" }, "path scope"],
    [{ path: "config", glob: "*.json" }, "path scope"],
    [{ glob: "prod.json" }, "path scope"],
    [{ glob: "prod*" }, "path scope"],
    [{ glob: "*.pem" }, "path scope"],
    [{ glob: "*.{ts,pem}" }, "path scope"],
    [{ path: "src", glob: ".env" }, "path scope"],
    [{ glob: ".en?" }, "path scope"],
    [{ glob: `{${MANY},.env}` }, "path scope"],
    [{ glob: "!*.pem" }, "allowed"],
    [{ glob: "*.ts" }, "allowed"],
    [{ path: "src", glob: "**/*.{ts,json}" }, "allowed"],
    [{ path: "src" }, "allowed"],
    [{}, "allowed"],
  ];
  for (const [input, expected] of rows)
    test(`a search with ${JSON.stringify(input).slice(0, 60)}: ${expected}`, () =>
      assert.equal(ruleOf(ask("Grep", { pattern: "x", ...input }, asked)), expected));
  for (const path of ["config/prod*", "config/*", "*.pem", "config/pro?.json", "config/*?*?*?*?*?*?*n"])
    test(`cat ${path}`, () => assert.equal(ruleOf(ask("Bash", { command: `cat ${path}` }, asked)), "shell safety"));
  for (const path of ["src/*.ts", "src/*", "*.json"])
    test(`cat ${path} is allowed`, () =>
      assert.equal(ruleOf(ask("Bash", { command: `cat ${path}` }, asked)), "allowed"));
});
