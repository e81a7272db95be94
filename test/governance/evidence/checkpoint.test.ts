import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkpointOf } from "../../../src/governance/evidence/checkpoint.ts";
import { parseFact } from "../../../src/governance/graph/facts.ts";
import { requestOf } from "../../../src/governance/policy/tools/request-of.ts";
import { analyse } from "../../../src/governance/shell/analyse.ts";

const place = {
  folder: "/w",
  start: "/w",
  home: "/home/person",
  temporary: "/tmp",
  variables: {},
  look: () => undefined,
  leads: (path: string) => path,
  isSecret: () => false,
};

function after(tool: string, input: Record<string, string>, { files = [] as string[], ok = true } = {}) {
  const request = requestOf("opencode", { tool, input });
  const effects = request.command === undefined ? undefined : analyse(request.command, place);
  return checkpointOf({ id: "call", request, effects, files, ok, at: 5 }, "node");
}

describe("a call is evidence", () => {
  for (const [command, expected] of [
    ["npm test", "test"],
    ["npm run test:unit -- --grep x", "test"],
    ["CI=1 npx vitest run", "test"],
    ["node --import ./x.js --test test/a.test.ts", "test"],
    ["python3 -m pytest -q", "test"],
    ["cd app && go test ./...", "test"],
    ["bash -c 'cargo test'", "test"],
    ["npm run build && npm test", "test"],
    ["npm --prefix app test", "test"],
    ["npm run -w web test -- --run", "test"],
    ["pnpm --filter web test", "test"],
    ["yarn workspace web test", "test"],
    ["./node_modules/.bin/vitest run", "test"],
    ["npx -y jest", "test"],
    [". .venv/bin/activate && .venv/bin/pytest -q", "test"],
    ["venv/bin/python3.12 -m pytest", "test"],
    ["./mvnw -q test", "test"],
    ["make -C app test", "test"],
    ["make -j 4 VERBOSE=1 check", "test"],
    ["mvn -B clean verify", "test"],
    ["./gradlew :app:test --tests A", "test"],
    ["./gradlew build -x test", "build"],
    ["python3 manage.py test app", "test"],
    ["cargo nextest run", "test"],
    ["npm run-script test", "test"],
    ["npx nx run web:test", "test"],
    ["flutter test", "test"],
    ["sh scripts/run-tests.sh -v", "test"],
    ["chmod +x test.sh", undefined],
    ["./manage.py test app", "test"],
    ["coverage run -m pytest -q", "test"],
    ["php vendor/bin/phpunit", "test"],
    ["task test", "test"],
    ["pnpm vitest run", "test"],
    ["yarn jest --ci", "test"],
    ["yarn add jest", undefined],
    ["pdm run pytest -q", "test"],
    ["npm run unit", "test"],
    ["npm run e2e -- --headless", "test"],
    ["make unit-test", "test"],
    ["npx tsx --test src/a.test.ts", "test"],
    ["npx c8 node --test", "test"],
    ["npx nx affected -t lint,test", "test"],
    ["./gradlew :app:testDebugUnitTest", "test"],
    ["./gradlew testClasses", undefined],
    ["vendor/bin/pest", "test"],
    ["bin/test", "test"],
    ["php artisan make:test UserTest", undefined],
    ["bin/rails db:test:prepare", undefined],
    ["npm run lint:test", "build"],
    ["npm run e2e:install", undefined],
    ["npm run test:db:up", undefined],
    ["make test-deps", "build"],
    ["make build-test", "build"],
    ["./gradlew check -x test", undefined],
    ["./scripts/setup-test.sh", undefined],
    ["bash scripts/unit_tests.sh", "test"],
    ["npx nx run data:test", "test"],
    ["npx nx run build-tools:test", "test"],
    ["npm run build-and-test", "test"],
    ["npm run test:e2e:ci", "test"],
    ["npx nx test data", "test"],
    ["/usr/bin/test -f a", undefined],
    ["sh scripts/latest.sh", undefined],
    ["cargo check --tests", "build"],
    ["npm run check", "build"],
    ["deno check main.ts", "build"],
    ["python3 manage.py check", undefined],
    ["pnpm --filter web build", "build"],
    ["node_modules/.bin/tsc --noEmit", "build"],
    ["npm run -w test build", "build"],
    ["make -C test all", "build"],
    ["make -n test", "build"],
    ["npm --prefix test install", undefined],
    ["npm -w web install test", undefined],
    ["make", "build"],
    ["npx tsc --noEmit", "build"],
    ["./gradlew assemble", "build"],
    ["git commit -am x", "git"],
    ["git merge main", "git"],
    ["git status", undefined],
    ["git log --oneline | head", undefined],
    ["ls", undefined],
    ["grep -r 'npm test' docs", undefined],
    ["cat test", undefined],
    ["node x.js", undefined],
    ["echo npm test", undefined],
  ] as const)
    test(`by a shell command: ${command}: ${expected ?? "no"}`, () => {
      assert.equal(after("bash", { command })?.kind, expected);
    });

  for (const [what, tool, input, expected] of [
    ["a write", "write", { filePath: "src/a.ts", content: "x" }, "change"],
    ["an edit", "edit", { filePath: "src/a.ts" }, "change"],
    ["a patch", "apply_patch", { patchText: "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch" }, "change"],
    ["a read", "read", { filePath: "src/a.ts" }, undefined],
    ["a search", "grep", { pattern: "x" }, undefined],
  ] as const)
    test(`by ${what}: ${expected ?? "no"}`, () => assert.equal(after(tool, { ...input })?.kind, expected));

  test("however many and long the names of the files are: it is a line that can be read again", () => {
    const files = Array.from({ length: 300 }, (_, at) => `${at}/${"x".repeat(4000)}`);
    const checkpoint = after("bash", { command: "make" }, { files });
    const common = { key: "k", at: 1, session: "s", role: "executor" };
    const read = parseFact(JSON.stringify({ type: "checkpoint", ...common, checkpoint }));
    assert("fact" in read, JSON.stringify(read));
  });

  test("when it failed, unless it was to change a file", () => {
    assert.equal(after("bash", { command: "npm test" }, { ok: false })?.ok, false);
    assert.equal(after("write", { filePath: "a", content: "x" }, { ok: false }), undefined);
  });

  for (const command of [
    "npm test",
    "cd app && CI=1 npm test 2>&1",
    "npm test && echo ok",
    "npm ci; npm test -- -t 'a | tail'",
    "set -euo pipefail; npm test | tail -5; git status",
    "npm test || { echo FAILED; exit 1; }",
    "(cd app; timeout 60 npm test)",
    "timeout -k 5 60 nice -n 10 npm test",
    "uv run --extra dev pytest",
    "time bash -c 'npm test'",
    "pnpm --filter web test",
    "cd app && ../.venv/bin/pytest -q",
  ])
    test(`that tests passed: ${command}`, () => assert.equal(after("bash", { command })?.ok, true));

  for (const command of [
    "npm test || true",
    "npm test; exit 0",
    "npm test | tail -5",
    "npm test > out.txt 2>&1; tail out.txt",
    "npm test &",
    "! npm test",
    "if npm test; then :; fi",
    "true || npm test",
    "npm() { :; }; npm test",
    "alias npm=true; npm test",
    "trap 'exit 0' EXIT; npm test",
    "bash -c 'npm test || true'",
    "(set -e); npm test; ls",
    "set -e; npm test | tail",
    "npm test; set -e; ls",
    "set -e; npm test && echo ok; ls",
    "pytest --collect-only",
    "npx jest --clearCache",
    "ctest -N",
    "mvn test -DskipTests",
    "npm test --if-present",
    "echo $(npm test)",
  ])
    test(`that tests were run, and not that they passed: ${command}`, () => {
      const made = after("bash", { command });
      assert.deepEqual([made?.kind, made?.ok], ["test", false]);
      assert.match(made?.summary ?? "", /\(its exit code does not tell whether they passed\)$/);
    });

  test("with the files that are other than before, also by any command", () => {
    const made = after("bash", { command: "node generate.js" }, { files: ["a.ts", "b.ts", "c.ts"] });
    assert.deepEqual([made?.kind, made?.filesModified], ["change", ["a.ts", "b.ts", "c.ts"]]);
    assert.equal(made?.summary, "node generate.js (changed a.ts and 2 more)");
  });

  test("in one line, whatever the agent wrote", () => {
    const made = after("bash", { command: `npm test\n\n${"x".repeat(1000)}` });
    assert(made && made.summary.length <= 300 && !made.summary.includes("\n"), made?.summary);
  });
});
