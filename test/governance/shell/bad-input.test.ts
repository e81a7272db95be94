import assert from "node:assert/strict";
import { test } from "node:test";
import { analyse } from "../../../src/governance/shell/analyse.ts";
import { MAX_COMMAND_BYTES } from "../../../src/governance/shell/parse.ts";
import { deniedBecause, PLACE } from "./judging.ts";

/** Each of them would take minutes, or all memory, if it were followed to its end. */
const BOMBS: Readonly<Record<string, string>> = {
  "thousands of statements": "ls;".repeat(20_000),
  "a long list": `${"ls && ".repeat(10_000)}ls`,
  "a long pipe": `${"ls | ".repeat(10_000)}ls`,
  "deep groups": "(".repeat(30_000) + ")".repeat(30_000),
  "deep substitutions": "$(".repeat(20_000) + ")".repeat(20_000),
  "deep arithmetic": `echo $((${"(".repeat(10_000)}1${")".repeat(10_000)}))`,
  "deep parameters": "echo ".concat("${a:-".repeat(5000), "}".repeat(5000)),
  "nested loops": `${"for i in 1 2 3 4 5 6 7 8; do ".repeat(8)}ls; ${"done; ".repeat(8)}`,
  "functions that call each other twice": `${Array.from({ length: 30 }, (_, at) => `f${at}() { f${at + 1}; f${at + 1}; }`).join("; ")}; f0`,
  "eval of eval": `${"eval ".repeat(5000)}ls`,
  backticks: "`".repeat(60_000),
  "a program of awk": `awk '${"print ".repeat(9000)}' x`,
  "an array that doubles": `a=(x x); ${`a=("\${a[@]}" "\${a[@]}"); `.repeat(40)}`,
  "arguments that double": `set -- x x; ${'set -- "$@" "$@"; '.repeat(40)}`,
  "a text that is replaced again and again": `a=${"x".repeat(20_000)}; ${`: \${a//x/xx}; `.repeat(2000)}`,
  "braces in a word": "echo ".concat("{".repeat(25_000), "}".repeat(25_000)),
  "code of spaces": `node -p '${" ".repeat(60_000)}x'`,
  "a pattern of stars": `cat .${"*".repeat(2000)}env`,
  "a search for brackets": `find . -regex '${"[".repeat(60_000)}' -delete`,
  "many links": `${Array.from({ length: 2000 }, (_, at) => `ln -s a${at} a${at + 1}`).join(";")}`,
  statements: `psql -c '${"copy ".repeat(10_000)}'`,
  "a search for many names": `find . ${"-name a -o ".repeat(1500)} -name b -delete`,
  "a search for a name of wildcards": `find . -name '${"*?".repeat(14)}x' -delete`,
  "a search for a path of wildcards": `find . -path './${"*?".repeat(14)}x' -delete`,
  "a pattern of wildcards": `rm .${"*?".repeat(14)}x`,
  "folders on a stack": `${"pushd a; ".repeat(2000)}${"popd; ".repeat(2000)}`,
  "a script with many gaps": `sed "s/${"$A".repeat(3000)}/b/" f`,
  "a command with many gaps": `rg -l x | xargs -I{} sh -c '${"wc {}; ".repeat(5000)}'`,
  "scripts after each of which a variable is set": Array.from({ length: 2500 }, (_, at) => `. ./s; v${at}=1`).join(";"),
  "a script that runs itself": "echo 'sh x.sh; sh x.sh; frobnicate' > x.sh; sh x.sh",
};

/** These are understood, or are of no concern, in spite of their size. */
const ALLOWED: Readonly<Record<string, string>> = {
  braces: `echo ${"{a,b}".repeat(30)}`,
  "nested braces": `echo ${"{".repeat(3000)}a,b${"}".repeat(3000)}`,
  "a large range": "echo {1..99999999}",
  "a variable that doubles": `x=a; ${"x=$x$x; ".repeat(40)}echo $x`,
  "a function that calls itself": "f() { f; f; }; f",
  stars: `ls ${"*".repeat(50_000)}`,
  "an alias of git for itself": "git -c alias.status=status status",
  "brackets that are computed": `let "${"[".repeat(60_000)}"`,
  "broken letters": "echo \ud800",
};

/** Each took seconds, or for ever: where the dispatcher judges, it does nothing else meanwhile. */
const SLOW: Readonly<Record<string, string>> = {
  "options of ssh": `rsync -e 'ssh -4 -${" -4 -4 -4 s".repeat(28)}\t' a b`,
  "letters of one option": `grep '-${"l".repeat(60_000)}!' x`,
  "letters of an option of git": `git branch '-${"C".repeat(60_000)}-'`,
  "numbers of an address": `ifconfig '${".".repeat(60_000)}\n.'`,
  "slashes of a source": `cp -e '${"/".repeat(60_000)}x/' x`,
  "signs in an address": `wget '${"#".repeat(60_000)}\n#'`,
  "signs in a form": `curl -F 'a=@${";".repeat(60_000)}\n;' x`,
  "versions of a package": `npx '${"x@x".repeat(20_000)}/'`,
  "values for make": `make '${"f=".repeat(30_000)}'`,
  "words of a tool": `bun '${"a ".repeat(30_000)}'`,
  "zeros in a format": `printf '% ${"0".repeat(60_000)}1'`,
  "brackets of a name": `pkill -f '${"[a".repeat(30_000)}'`,
  "empty lines that are printed": `x=$(printf '${"\n".repeat(60_000)}x')`,
};

for (const [name, command] of Object.entries(SLOW))
  test(`${name}: judged within a second`, () => {
    const before = process.cpuUsage();
    deniedBecause(command);
    assert(process.cpuUsage(before).user < 1_000_000);
  });

for (const [name, command] of Object.entries(BOMBS))
  test(`${name}: denied`, () => {
    assert.match(deniedBecause(command) ?? "allowed", /^shell safety: /);
  });

for (const [name, command] of Object.entries(ALLOWED))
  test(`${name}: allowed`, () => {
    assert.equal(deniedBecause(command), undefined);
  });

test("too many folders, names and choices are not followed, and nothing is deleted there", () => {
  const folders = Array.from({ length: 300 }, (_, at) => `cd a${at}`).join("; ");
  assert.match(deniedBecause(`${folders}; rm x`) ?? "", /cannot be told/);
  const choices = Array.from({ length: 300 }, (_, at) => `test && x=${at}`).join("; ");
  assert.match(deniedBecause(`${choices}; rm $x`) ?? "", /too many things/);
  assert.match(deniedBecause(`rm -rf ${"a/".repeat(30_000)}`) ?? "", /too long for a path/);
  assert.match(deniedBecause(`rm ${"*".repeat(3000)}`) ?? "allowed", /deletes/);
});

test("over 64 KB is denied unparsed, one byte less is not", () => {
  const longest = `echo ${"a".repeat(MAX_COMMAND_BYTES - 5)}`;
  assert.equal(deniedBecause(longest), undefined);
  assert.match(deniedBecause(`${longest}a`) ?? "", /longer than 64 KB/);
  assert.match(deniedBecause("x".repeat(1 << 20)) ?? "", /longer than 64 KB/);
  // What is shown of it is short.
  assert.ok((deniedBecause("x".repeat(1 << 20)) ?? "").length < 500);
});

test("what is not a command line has a verdict that names it", () => {
  assert.match(deniedBecause("ls \0 -la") ?? "", /NUL/);
  assert.match(deniedBecause("ls '") ?? "", /cannot be parsed/);
  for (const wrong of [undefined, null, 3, true, {}, [], ["ls"]]) {
    const tree = analyse(wrong as unknown as string, PLACE);
    assert.deepEqual(
      tree.effects.map(({ kind, what }) => [kind, what]),
      [["unknown", "is not a string"]],
    );
  }
});

test("an empty command does nothing", () => {
  for (const nothing of ["", " ", "\n", "# only a comment"]) assert.equal(deniedBecause(nothing), undefined);
});
