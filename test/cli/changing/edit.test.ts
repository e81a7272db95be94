import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import { testRepository } from "../fixture.ts";

describe("edit in an editor", () => {
  const repository = testRepository();
  const { run } = repository;
  after(() => repository.close());
  const editor = (command: string) => ({ env: { EDITOR: command } });
  const fileOf = async (plan: string) => JSON.parse((await run(["show", plan, "--json"])).stdout).planFile as string;

  it("merges what arrived meanwhile", async () => {
    await run(["new", "--stdin"], { input: "# Texts\n\n## TODO\n\n- [ ] one\n- [ ] two\n" });
    const planFile = await fileOf("texts");
    const script = `f() { sed -i 's/two/second/' "$1"; sed -i 's/\\[ \\] one/[x] one/' '${planFile}'; }; f`;
    const { code, stdout, stderr } = await run(["edit", "texts"], editor(script));
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^changed the text of texts, merged with what arrived meanwhile\.$/m);
    assert.equal(readFileSync(planFile, "utf8"), "# Texts\n\n## TODO\n\n- [x] one\n- [ ] second\n");
  });

  it("opens the editor again where both changed the same line", async () => {
    const planFile = await fileOf("texts");
    const script = `f() {
      if grep -q '^<<<<<<<' "$1"; then sed -i -e '/^<<<<<<<\\|^=======\\|^>>>>>>>/d' "$1"; return; fi
      sed -i 's/second/mine/' "$1"; sed -i 's/second/theirs/' '${planFile}'; }; f`;
    const { code, stderr } = await run(["edit", "texts"], editor(script));
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^texts changed at the same place: choose in the editor\.$/m);
    assert.match(readFileSync(planFile, "utf8"), /- \[x\] one\n- \[ \] mine\n- \[ \] theirs\n$/);
  });
});
