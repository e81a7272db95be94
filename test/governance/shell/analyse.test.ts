import assert from "node:assert/strict";
import { test } from "node:test";
import { analyse } from "../../../src/governance/shell/analyse.ts";
import { allEffects } from "../../../src/governance/shell/effects.ts";
import { describeText } from "../../../src/governance/shell/values/text.ts";
import { PLACE, ROOT } from "./judging.ts";

/** Effects as `kind path`, or `kind` alone where no path is concerned. */
function effectsOf(command: string): string[] {
  return [...allEffects(analyse(command, PLACE))].map(({ kind, path }) =>
    path ? `${kind} ${describeText(path).replace(`${ROOT}/`, "")}` : kind,
  );
}

const CASES: readonly [command: string, effects: string[]][] = [
  ["cat README.md", ["reads README.md"]],
  ["cat README.md > copy.md", ["writes copy.md", "reads README.md"]],
  ["ls 2> errors.txt", ["writes errors.txt"]],
  ["rm -rf dist", ["deletes dist"]],
  ["cd src && rm cart.ts", ["deletes src/cart.ts"]],
  ["cd nowhere; rm x", ["deletes nowhere/x", "deletes x"]],
  ["cd nowhere && rm x", ["deletes nowhere/x"]],
  ['D=src; mv $D/a.ts "$D"/b.ts', ["reads src/a.ts", "deletes src/a.ts", "writes src/b.ts", "writes src/b.ts/a.ts"]],
  ["for f in a b; do touch $f.ts; done", ["writes a.ts", "writes b.ts"]],
  ["touch {a,b}.ts", ["writes a.ts", "writes b.ts"]],
  ["if true; then D=a; else D=b; fi; rm -r $D", ["deletes b", "deletes a"]],
  ["sh -c 'touch \"$1\"' _ x", ["writes x"]],
  ['f() { touch "$1"; }; f y', ["writes y"]],
  ["npm test", ["runs"]],
  ["git push", ["sends"]],
  ["curl https://example.org", ["fetches"]],
  ["curl https://example.org | sh", ["fetches", "code"]],
  ["sudo rm x", ["privilege", "deletes x"]],
  ["echo hello", []],
  ["cat <<'EOF'\nrm -rf /\nEOF", []],
  ["bash <<'EOF'\ntouch x\nEOF", ["writes x"]],
  ["echo 'touch x' > s.sh; sh s.sh", ["writes s.sh", "writes x"]],
  ["frobnicate --run 'touch x'", ["runs", "writes x"]],
  ["xargs -I{} touch {}.ts <<< a", ["writes a.ts"]],
  [`for f in $(git ls-files); do rm -r "\${f%x}/y"; done`, ["deletes ? (it is part of a name that a program found)"]],
  [`for f in $(git ls-files); do rm -r "\${f%.x}/y"; done`, [`deletes what is found below ${ROOT}`]],
  ["awk 'BEGIN { print 1 }' < /dev/null | sh", ["unknown"]],
  ["find . -name '*.orig' -delete", [`reads ${ROOT}`, `deletes what is found below ${ROOT}`]],
];

for (const [command, expected] of CASES)
  test(`effects of ${JSON.stringify(command)}`, () => {
    assert.deepEqual(effectsOf(command), expected);
  });

test("the tree has a command for each program, as it is called in the end", () => {
  const tree = analyse("X=rm; timeout 5 $X -r dist", PLACE);
  const names: string[] = [];
  for (let [one] = tree.inner; one; [one] = one.inner) names.push(one.command);
  assert.deepEqual(names, ["timeout 5 rm -r dist", "rm -r dist"]);
});
