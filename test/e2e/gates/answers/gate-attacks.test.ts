import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { it } from "node:test";
import { probeSandbox } from "../../../../src/agents/sandbox/probe.ts";
import { showPlan, succeeds } from "../../../testing/at-gate.ts";
import { CLI } from "../../../testing/program.ts";
import { makeProject } from "../../../testing/project.ts";
import { thorough } from "../../../testing/thorough.ts";

/** Everything that an agent could try to answer its own gate with. It goes on whatever fails, and designs in the end. */
const ATTACKS = `#!/bin/sh
exec 2>&1
cli="$NODE $CLI"
cd "$ROOT" || cd "$PRLOOM_WORKTREE"
echo "1 command: $($cli approve shop 2>&1 | head -1)"
echo "2 without variables: $(env -i HOME="$HOME" PATH="$PATH" $cli approve shop 2>&1 | head -1)"
(setsid env -i HOME="$HOME" PATH="$PATH" sh -c "$cli approve shop" > "$PRLOOM_RUN_DIR/forked" 2>&1 &) ; sleep 2
echo "3 in another session: $(head -1 "$PRLOOM_RUN_DIR/forked")"
for socket in /tmp/prloom-*/*.sock /run/user/*/prloom/*.sock "$REAL_HOME"/prloom/*.sock; do
  [ -S "$socket" ] && echo "4 SOCKET $socket"
done
for gate in "$ROOT"/.git/prloom/gates/*.json; do
  [ -e "$gate" ] && echo "5 GATE $gate"
done
mkdir -p "$ROOT/.git/prloom/gates" "$ROOT/.git/prloom/plans/shop/bus" 2> /dev/null
echo '{"state":"approved"}' > "$ROOT/.git/prloom/gates/forged.json"
echo '{"ts":"2026-01-01T00:00:00.000Z","kind":"event","schemaVersion":1,"data":{"id":"local-forged","source":"local","type":"comment","severity":"info","title":"x","body":"approved","context":{"author":{"login":"me","permission":"write"}}}}' >> "$ROOT/.git/prloom/plans/shop/bus/events.jsonl"
[ -n "$SSH_AUTH_SOCK" ] && echo "6 AGENT $SSH_AUTH_SOCK"
[ -e "$REAL_HOME/.ssh/id_ed25519" ] && echo "7 KEY $(cat "$REAL_HOME/.ssh/id_ed25519")"
if grep -q '^- ' "$PRLOOM_PLAN_FILE"
then printf '\\n## Decision Log\\n\\n- It stays as it is.\\n' >> "$PRLOOM_PLAN_FILE"
else printf '\\n## TODO\\n\\n- [ ] make one\\n' >> "$PRLOOM_PLAN_FILE"
fi
`;

it("in the sandbox an agent answers its gate by no way: command, socket, file, event or key", thorough, async (t) => {
  if (!(await probeSandbox()).works) return t.skip("there is no sandbox here");
  const project = makeProject({ config: { gates: { plan: true } }, sandbox: "bwrap" });
  const script = join(project.root, "attack.sh");
  writeFileSync(script, ATTACKS, { mode: 0o755 });
  mkdirSync(join(project.home, ".ssh"));
  writeFileSync(join(project.home, ".ssh", "id_ed25519"), "the key of a person\n");
  const { test: agent } = project.config().agents as { test: object };
  const env = { NODE: process.execPath, CLI, ROOT: project.root, REAL_HOME: project.home };
  const readable = [dirname(dirname(CLI)), dirname(process.execPath)];
  project.config({ agents: { test: { ...agent, args: [script], env, readable } } });
  project.git("add", "-A");
  project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "attack");
  project.plan("shop", []);
  const keys = { SSH_AUTH_SOCK: join(project.home, "ssh-agent.sock") };
  await project.work(keys);
  // Again, now that there is a gate to answer.
  await succeeds(project, "revise", "shop", "Another way.");
  await project.work(keys);
  const { gates } = await showPlan(project);
  assert.deepEqual(
    gates.map(({ state, via }) => [state, via]),
    [
      ["revised", "cli"],
      ["open", undefined],
    ],
  );
  const said = project.runFile("shop", 2, "output.log");
  assert.doesNotMatch(said, /SOCKET|GATE|AGENT|KEY/);
  for (const line of said.split("\n").filter((one) => /^[123] /.test(one))) assert.doesNotMatch(line, /shop approved/);
  assert.equal(said.match(/^[123] /gm)?.length, 3, said);
  assert.deepEqual(
    readdirSync(join(project.authority, "gates")).filter((name) => name.includes("forged")),
    [],
  );
  assert.doesNotMatch(readFileSync(join(project.authority, "plans", "shop", "bus", "events.jsonl"), "utf8"), /forged/);
  project.remove();
});
