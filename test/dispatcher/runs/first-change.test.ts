import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { RUN_COPY } from "../../../src/dispatcher/paths.ts";
import { onFirstChange } from "../../../src/dispatcher/runs/first-change.ts";

const worktree = mkdtempSync(join(tmpdir(), "prloom-first-change-"));
after(() => rmSync(worktree, { recursive: true }));

/** Takes a lease for writing (F_SETLEASE, F_WRLCK), and keeps it until its input ends: who opens the file meanwhile is told EAGAIN, or waits. */
const HOLD = `$| = 1; $SIG{IO} = "IGNORE"; open(my $f, "+<", $ARGV[0]) or die;
  fcntl($f, 1024, 1) or die $!; print "held\\n"; <STDIN>;`;

test("a copy that an agent holds a lease on does not end the dispatcher, and is read when it may be", async (context) => {
  if (spawnSync("perl", ["-e", "1"]).status !== 0) return context.skip("perl is not installed");
  mkdirSync(join(worktree, RUN_COPY.dir), { recursive: true });
  const copy = join(worktree, RUN_COPY.plan);
  writeFileSync(copy, "designed");
  const holder = spawn("perl", ["-e", HOLD, copy], { stdio: ["pipe", "pipe", "inherit"] });
  context.after(() => holder.kill());
  const gone = once(holder, "close");
  const [said] = await Promise.race([once(holder.stdout, "data"), gone]);
  if (String(said) !== "held\n") return context.skip("this file system has no leases");
  const changed = Promise.withResolvers<void>();
  const end = onFirstChange(worktree, "given", changed.resolve);
  await delay(400);
  holder.stdin.end();
  await gone;
  writeFileSync(copy, "designed otherwise");
  await changed.promise;
  end();
});
