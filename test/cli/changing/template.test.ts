import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { planFromTemplate, TEMPLATE } from "../../../src/cli/changing/template.ts";

describe("the template of a new plan", () => {
  const filled = TEMPLATE.replace("# \n", "# Add a page\n");
  const table: [name: string, left: string, plan: string | undefined][] = [
    ["as it was", TEMPLATE, undefined],
    ["emptied", "\n \n", undefined],
    ["with lines of another system", TEMPLATE.replaceAll("\n", "\r\n"), undefined],
    ["with a title: the designer makes the TODOs", filled, "# Add a page\n"],
    [
      "with all of it",
      filled.replace("- [ ] \n", "- [ ] Write it\n- [ ] \n"),
      "# Add a page\n\n## TODO\n\n- [ ] Write it\n",
    ],
    ["written anew", "Fix it\n\n<!-- why -->\n", "Fix it\n\n<!-- why -->\n"],
  ];
  for (const [name, left, plan] of table) it(name, () => assert.equal(planFromTemplate(left), plan));
});
