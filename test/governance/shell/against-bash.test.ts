import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { thorough } from "../../testing/thorough.ts";
import { deniedBecause } from "./judging.ts";

const linesOf = (name: string): string[] =>
  readFileSync(join(import.meta.dirname, "forms", name), "utf8")
    .trimEnd()
    .replaceAll("\n", "\0")
    .replaceAll("⏎", "\n")
    .split("\0");

/** Each way to write a command `C` into a word `S`, in each place where a word can stand. */
const FORMS = linesOf("places.txt").flatMap((place) =>
  linesOf("words.txt").map((word) => place.replaceAll("S", () => word)),
);

const filled = (form: string, command: string): string => form.replaceAll("C", () => command);

/** The forms in which bash runs the command, by their numbers. */
function runByBash(forms: readonly string[]): number[] {
  const folder = mkdtempSync(join(tmpdir(), "prloom-bash-"));
  try {
    const lines = forms.map((form, at) => filled(form, `touch ${folder}/${at}`));
    // Each in a shell of its own, where a mistake ends nothing but that.
    const script =
      'while IFS= read -r -d "" form <&3; do ( eval "$form" ) < /dev/null > /dev/null 2>&1; done 3<&0; wait';
    execFileSync("bash", ["--norc", "-c", script], {
      cwd: folder,
      stdio: ["pipe", "ignore", "ignore"],
      input: lines.map((line) => `${line}\0`).join(""),
    });
    return readdirSync(folder)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("what bash runs in any place of a command is found there", thorough, () => {
  const ran = runByBash(FORMS);
  assert.ok(ran.length > FORMS.length / 3, `bash ran ${ran.length} of ${FORMS.length}`);
  const passed = ran.map((at) => filled(FORMS[at] as string, "rm -rf /home/ada/y"));
  assert.deepEqual(
    passed.filter((command) => deniedBecause(command) === undefined),
    [],
  );
});
