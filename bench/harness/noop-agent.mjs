// The least that counts as work: one changed file, one tick. A Node program, as the real agents are.
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const { PRLOOM_PLAN_FILE = "", PRLOOM_WORKTREE = "" } = process.env;
appendFileSync(join(PRLOOM_WORKTREE, "work.txt"), "done\n");
writeFileSync(PRLOOM_PLAN_FILE, readFileSync(PRLOOM_PLAN_FILE, "utf8").replace("- [ ]", "- [x]"));
