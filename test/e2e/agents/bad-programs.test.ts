import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { projectMaker } from "../../testing/projects.ts";
import { oneOf } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";

/** A program in the place of Codex: its version, and what it does with a prompt. */
interface Wrong {
  readonly what: string;
  readonly version?: string;
  readonly does: string;
  readonly limits?: Record<string, unknown>;
  readonly reason: RegExp;
  readonly hint: RegExp;
}

const WRONG: readonly Wrong[] = [
  {
    what: "one that is too old",
    version: "0.1.0",
    does: `echo "error: unexpected argument '--json' found"; exit 2`,
    reason: /by Codex 0\.1\.0\..*it may be too old.*unexpected argument/s,
    hint: /prloom needs 0\.\d+\.\d+ or newer: `npm install -g @openai\/codex`/,
  },
  {
    what: "one that prints garbage",
    does: `head -c 3000 /dev/urandom; echo '{"type":"hello"}'; echo '{"kind":1}'`,
    reason: /by Codex 99\.0\.0\..*printed nothing that prloom knows.*Expected were lines such as "thread\.started"/s,
    hint: /prloom logs/,
  },
  {
    what: "one that ends well and has done nothing",
    does: `echo '{"type":"thread.started","thread_id":"t"}'; echo '{"type":"turn.started"}'; exit 0`,
    reason: /by Codex 99\.0\.0\..*not ticked.*ended with code 0/s,
    hint: /prloom unblock/,
  },
  {
    what: "one that does not end when it is asked to",
    does: `trap '' TERM INT; echo '{"type":"thread.started","thread_id":"t"}'; while :; do sleep 1; done`,
    limits: { runTimeout: "2s", stopGrace: "200ms" },
    reason: /by Codex 99\.0\.0\..*longer than limits\.runTimeout/s,
    hint: /prloom logs/,
  },
];

describe("programs that do not do what they should", { concurrency: 2 }, () => {
  const fresh = projectMaker();

  async function blockedBy(does: string | undefined, { version = "99.0.0", limits = {} }: Partial<Wrong> = {}) {
    const project = fresh({ config: { limits: { attemptsPerTodo: 1, ...limits } } });
    const program = join(project.root, "..", "codex");
    if (does !== undefined) {
      writeFileSync(
        program,
        `#!/bin/sh\nif [ "$1" = --version ]; then echo "codex-cli ${version}"; exit; fi\n${does}\n`,
      );
      chmodSync(program, 0o755);
    }
    project.config({ agents: { test: { adapter: "codex", command: program } } });
    project.plan("one", ["do it"]);
    project.plan("two", []);
    const worked = await project.work();
    assert.equal(worked.code, 0, worked.stderr);
    assert.deepEqual(project.processes(), []);
    return { project, one: project.record("one").blocked, two: project.record("two").blocked };
  }

  for (const { what, does, reason, hint, ...more } of oneOf(WRONG)) {
    test(`${what}: program, version, what was expected, and what to type`, async () => {
      const { one, two } = await blockedBy(does, more);
      assert.match(one?.reason ?? "", reason);
      assert.match(one?.hint ?? "", hint);
      assert.match(two?.reason ?? "", /The designer \(Codex \d+\.\d+\.\d+\) gave no usable result/);
      assert.match(two?.hint ?? "", hint);
    });
  }

  test("one that is too old is not tried again", thorough, async () => {
    const old = WRONG[0];
    assert(old);
    const { one } = await blockedBy(old.does, { version: "0.1.0", limits: { attemptsPerTodo: 3 } });
    assert.match(one?.reason ?? "", /failed after 1 attempt by Codex 0\.1\.0/);
  });

  test(
    "one that tells of more tokens than there are numbers: its plan can be read by the next dispatcher",
    thorough,
    async () => {
      const spent = '{"type":"turn.completed","usage":{"input_tokens":1.7e308,"output_tokens":1.7e308}}';
      const { project } = await blockedBy(`echo '{"type":"thread.started","thread_id":"t"}'; echo '${spent}'`);
      const { plans } = await project.status();
      assert.deepEqual(
        plans.map(({ planId, blocked }) => [planId, blocked?.reason.includes("not ticked")]),
        [
          ["one", true],
          ["two", false],
        ],
      );
      assert.match((await project.work()).stdout, /^(?!.*cannot be (?:used|read))/s);
      assert.equal((await project.cli(["unblock", "one"])).code, 0);
    },
  );

  test("one that is not there: how to install it", thorough, async () => {
    const blocked = await blockedBy(undefined);
    for (const { reason, hint } of [blocked.one, blocked.two].map((one) => one ?? { reason: "", hint: "" })) {
      assert.match(reason, /could not be started: ENOENT/);
      assert.match(hint ?? "", /Install it: `npm install -g @openai\/codex`\..*prloom doctor.*prloom unblock/);
    }
  });
});
