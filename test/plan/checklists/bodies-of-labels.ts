import { type Body, none, todos, unclear } from "./body.ts";

const EXPORT = "- [ ] It opens in Excel\n- [ ] It has a header\n";
const FOUND = ["It opens in Excel", "It has a header"];
const criteria = (name: string, text: string, heading = "Acceptance criteria"): Body =>
  none(name, text, [], [[heading, 2, "conditions"]]);

/** Issues whose labels have other labels, or words, between them and their list. */
export const BODIES_OF_LABELS: readonly Body[] = [
  criteria("a bold title, and a line with a colon right below it", `**Acceptance criteria**\nThe export:\n${EXPORT}`),
  criteria("one above a line with a colon", `**Acceptance criteria**\n\nThe export:\n\n${EXPORT}`),
  criteria("one with a colon behind it", `__Acceptance criteria__:\nThe export:\n${EXPORT}`),
  criteria("one that is slanted", `*Acceptance criteria:*\n\nThe export:\n${EXPORT}`),
  criteria("one that is a tag", `<b>Acceptance criteria</b>\n\nThe export:\n${EXPORT}`),
  criteria("one whose lines end as on Windows", `**Acceptance criteria**\r\nThe export:\r\n${EXPORT}`),
  criteria("one with words right below it", `**Acceptance criteria**\nThe export must be usable.\n${EXPORT}`),
  criteria("one with words and a line with a colon", `**Acceptance criteria**\nSee #4.\nThe export:\n${EXPORT}`),
  todos("what is expected, and what to do", `**Expected behavior**\nIt works.\n\nWe need to:\n${EXPORT}`, FOUND),
  todos("words below a bold title", `**Environment**\n\nmacOS 14\n\nTo be changed are:\n${EXPORT}`, FOUND),
  todos(
    "a list, words, and what to do",
    `**Environment**\nSeen:\n- [ ] macOS\n\nSo far.\n\nWe need:\n${EXPORT}`,
    FOUND,
    [["Environment", 1, "choices"]],
  ),
  criteria("one below words of the same paragraph", `We need CSV.\n**Acceptance criteria**\nThe export:\n${EXPORT}`),
  criteria(
    "one with several lines with a colon",
    "**Acceptance criteria**\nFor guests:\n- [ ] It opens in Excel\n\nFor members:\n- [ ] It has a header\n",
  ),
  criteria(
    "one above a list that folds",
    `**Acceptance criteria**\n\n<details>\n<summary>Show</summary>\n\n${EXPORT}\n</details>\n`,
  ),
  criteria("a heading, a bold title and a line with a colon", `## Tasks\n\n**Acceptance criteria**\nIt:\n${EXPORT}`),
  criteria("a heading, a bold title and a line", `## Export\n\n**Acceptance criteria**\n\nIt:\n\n${EXPORT}`),
  criteria("two bold labels, of which the second says it", `**Export**\n\n**Acceptance criteria**\n${EXPORT}`),
  todos("two bold labels, of which the first says something", `**Out of scope**\n\n**Export**\n${EXPORT}`, FOUND),
  todos("the same in one paragraph", `**Acceptance criteria**\n**Tasks**\n${EXPORT}`, FOUND),
  todos("a line with a colon that says more", `**Acceptance criteria**\nNone.\n\nTasks:\n${EXPORT}`, FOUND),
  todos(
    "a bold title that has a list, and a line with a colon",
    `**Acceptance criteria**\n- [ ] Under 5 s\n\nThe export:\n${EXPORT}`,
    FOUND,
    [["Acceptance criteria", 1, "conditions"]],
  ),
  todos(
    "a fault, and a line with a colon",
    `**Steps to reproduce**\n1. Open it\n\nWe could do this:\n${EXPORT}`,
    FOUND,
  ),
  todos(
    "parts of bold tasks",
    "**Tasks**\nServer:\n- [ ] Route\n\nPage:\n- [ ] Button\n\n**Acceptance criteria**\nIt:\n- [ ] Looks well\n",
    ["Route", "Button"],
    [["Acceptance criteria", 1, "conditions"]],
  ),
  todos(
    "phases, each with a line with a colon",
    "**Phase 1**\nDo:\n- [ ] Route\n\n**Phase 2**\nDo:\n- [ ] Button\n\n**Phase 3**\nDo:\n- [ ] Chapter\n",
    ["Route", "Button", "Chapter"],
  ),
  criteria("a line with a colon, and another one", `Acceptance criteria:\n\nThe export:\n${EXPORT}`),
  todos("parts of tasks, without bold words", "Tasks:\n\nServer:\n- [ ] Route\n\nPage:\n- [ ] Button\n", [
    "Route",
    "Button",
  ]),
  ...[
    "**Acceptance criteria** (seen by *all*)",
    "**Acceptance criteria:** _(agreed)_",
    "<b>Acceptance criteria</b> (1):",
  ].map((line) =>
    todos(
      `tasks, and ${line}`,
      `**Tasks** ([plan](x))\n- [ ] Route\n\n${line}\n${EXPORT}`,
      ["Route"],
      [[line.replace(/\*\*|<.?b>|[*_]|:$/g, ""), 2, "conditions"]],
    ),
  ),
  todos("a sentence that begins with bold words", `## Tasks\n- [ ] Route\n\n**Kim** (QA) helps.\n${EXPORT}`, [
    "Route",
    ...FOUND,
  ]),
  todos(
    "parts of a task as items of a list",
    `### Task 1\n- **Files**: a.ts\n- **Steps**:\n  - [ ] Route\n- **Acceptance criteria**:\n  - [ ] Fast\n- Out of scope\n  1. [ ] Page\n`,
    ["Route"],
    [
      ["Acceptance criteria", 1, "conditions"],
      ["Out of scope", 1, "out of scope"],
    ],
  ),
  criteria(
    "an item above all boxes",
    "- Export\n  - Acceptance criteria:\n    - [ ] Fast\n    - Page\n      - [ ] Nice\n",
  ),
  todos(
    "labels inside of items",
    "## Plan\n1. **Model**\n\n   Steps:\n   - [ ] Class\n\n   **Acceptance criteria:**\n   - [ ] Runs twice\n\n2. **Page**\n   - [ ] Button\n\n   Out of scope:\n   - [ ] Pages\n",
    ["Class", "Button"],
    [
      ["Acceptance criteria", 1, "conditions"],
      ["Out of scope", 1, "out of scope"],
    ],
  ),
  criteria(
    "stories whose criteria follow at once",
    "1. **Story:** As a guest I want CSV.\r\n   **Acceptance criteria:**\r\n   - [ ] Opens\r\n2. **Story:** I want PDF.\r\n   **Acceptance criteria:**\r\n\r\n   The file:\r\n   - [ ] Prints\r\n",
  ),
  todos(
    "an item that is a sentence",
    "## Tasks\n- Define acceptance criteria for it\n  - [ ] Ask Kim\n- Then\n  - [ ] Ship\n",
    ["Ask Kim", "Ship"],
  ),
  todos("items that name parts", "## Tasks\n- Platforms\n  - [ ] Linux\n- Testing:\n  - [ ] Ends\n", ["Linux", "Ends"]),
  unclear("two that say nothing", "**Server**\nDo:\n- [ ] Route\n\n**Page**\nMake:\n- [ ] Button\n", ["Do", "Make"]),
  todos(
    "plain lines right above their lists",
    "Tasks\n- [ ] Route\n\nAcceptance criteria\n- [ ] Fast\n\nCan we do it now\n- [ ] Page\n",
    ["Route"],
    [["Acceptance criteria", 2, "conditions"]],
  ),
  todos(
    "priorities, of which the last is none",
    "## Tasks\n\n### Must\n- [ ] Parser\n\n### Could\n- [ ] Colours\n\n### Won't\n- [ ] Plugins\n",
    ["Parser", "Colours"],
    [["Won't", 1, "out of scope"]],
  ),
  todos(
    "what should be done, and by whom",
    "### What should be done\n- [ ] Rename it\n\n### Who\n- [ ] @ada\n",
    ["Rename it"],
    [["Who", 1, "another group"]],
  ),
  none(
    "criteria in Spanish",
    "## Criterios de éxito\n- [ ] Menos de 200 ms\n",
    [],
    [["Criterios de éxito", 1, "conditions"]],
  ),
  todos("plain lines that name parts", "New\n- [ ] Route\n\nFixes\n- [ ] Typo\n\nBetter\n- [ ] Speed\n", [
    "Route",
    "Typo",
    "Speed",
  ]),
  todos(
    "a plain line that ends conditions",
    "Acceptance criteria\n- [ ] Fast\n\nChanges\n- [ ] Route\n",
    ["Route"],
    [["Acceptance criteria", 1, "conditions"]],
  ),
  todos(
    "a title with words that say something else below a form",
    "# Login is not required on /admin\n\nSeen today.\n\n- [ ] Ask for it\n\n## Out of scope\n- [ ] Roles\n",
    ["Ask for it"],
    [["Out of scope", 1, "out of scope"]],
  ),
  todos(
    "a title with such words above parts",
    "# Remove the shims that are no longer needed\n\n## Server\n- [ ] Route\n\n## Page\n- [ ] Button\n\n## CLI\n- [ ] Flag\n",
    ["Route", "Button", "Flag"],
  ),
  todos("a title without spaces", "# 登录页面不需要验证码\n\n- [ ] 增加\n- [ ] 测试\n", ["增加", "测试"]),
  todos(
    "removing in Chinese",
    "## 删除不需要的依赖\n- [ ] 库\n\n## 不需要\n- [ ] 页\n",
    ["库"],
    [["不需要", 1, "out of scope"]],
  ),
  todos(
    "removing in Korean",
    "## 사용하지 않는 코드 제거\n- [ ] 모듈\n\n## 하지 않을 일\n- [ ] 화면\n",
    ["모듈"],
    [["하지 않을 일", 1, "out of scope"]],
  ),
  todos("a title that asks", "# Can we drop Node 18?\n\nIt is old.\n\n- [ ] CI\n- [ ] engines\n", ["CI", "engines"]),
  todos(
    "a title that asks for a file which forms name, too",
    "# Add a code of conduct\n\nWe have none.\n\n- [ ] Copy it\n- [ ] Link it\n",
    ["Copy it", "Link it"],
  ),
  todos(
    "headings that ask for such files",
    "# Community\n\n## Add a code of conduct\n- [ ] Copy it\n\n## Add contributing guidelines\n- [ ] Style\n\n## Add a PR checklist\n- [ ] Tests\n\n## Update this before submitting\n- [ ] Version\n",
    ["Copy it", "Style", "Tests"],
    [["Update this before submitting", 1, "confirmations"]],
  ),
  todos(
    "validations that are a part of the work",
    "## Tasks\n\n### API\n- [ ] Route\n\n### Validations\n- [ ] Length\n",
    ["Route", "Length"],
  ),
  none(
    "validations of a form",
    "### Validations\n- [x] Follow our [Code of Conduct](a)\n- [x] Read the docs.\n- [x] Make sure it is ours.\n",
    [],
    [["Validations", 3, "confirmations"]],
  ),
  todos("a title that tells its subject first", "# docs: add contributing guidelines (#7)\n\n- [ ] Style\n", ["Style"]),
  todos(
    "a title that asks for conditions",
    "# Write acceptance tests for the login\n\n## Server\n- [ ] Wrong password\n\n## Page\n- [ ] Message\n\n## CLI\n- [ ] Exit code\n",
    ["Wrong password", "Message", "Exit code"],
  ),
  todos(
    "what is done before something else is submitted",
    "# App 2.0\n\n## Before submitting to the store\n- [ ] Screenshots\n\n## Before opening the beta\n- [ ] Mail\n\n## After it\n- [ ] Post\n",
    ["Screenshots", "Mail", "Post"],
  ),
  ...["Before submitting - checklist", "Before submitting, make sure that:", "Before opening a new GitHub issue"].map(
    (line) =>
      todos(
        `a form that says ${line}`,
        `### ${line}\n- [x] Search existing issues\n- [ ] Update to the latest version\n\n### Proposal\n- [ ] Add a flag\n`,
        ["Add a flag"],
        [[line.replace(":", ""), 2, "confirmations"]],
      ),
  ),
  todos("ideas that are all there is", "The search is slow.\n\n## Ideas for a fix\n- [ ] Index\n- [ ] Cache\n", [
    "Index",
    "Cache",
  ]),
  none(
    "a title that is a form",
    "# Before you submit an issue\n\n- [ ] Update it\n",
    [],
    [["Before you submit an issue", 1, "confirmations"]],
  ),
  none(
    "a title that asks the author",
    "# Which browser do you use?\n\n- [ ] Firefox\n- [ ] Opera\n",
    [],
    [["Which browser do you use?", 2, "choices"]],
  ),
  none(
    "a title that shows a fault",
    "# Steps to reproduce the problem\n\n- [ ] Open it\n",
    [],
    [["Steps to reproduce the problem", 1, "how a fault is seen"]],
  ),
  none(
    "a form that asks for conditions",
    "## Add acceptance criteria here\n- [ ] Quick\n",
    [],
    [["Add acceptance criteria here", 1, "conditions"]],
  ),
  none(
    "a title that is conditions",
    "# Acceptance criteria for the login form\n\n- [ ] It is quick\n",
    [],
    [["Acceptance criteria for the login form", 1, "conditions"]],
  ),
  none("a title that is a name", "# Out of scope\n\n- [ ] Roles\n", [], [["Out of scope", 1, "out of scope"]]),
  todos(
    "what is removed because it is not needed",
    "## Remove what is no longer needed\n- [ ] Shim\n\n## Not needed\n- [ ] Docs\n\n## Non-requirements\n- [ ] Windows\n",
    ["Shim"],
    [
      ["Not needed", 1, "out of scope"],
      ["Non-requirements", 1, "out of scope"],
    ],
  ),
  todos(
    "parts that are named like a field of a form",
    "## Voting\n- [ ] Store one vote per person\n\n## Poll\n- [ ] Close it after a day\n\n## Risk\n- [ ] Sum up what is owed\n",
    ["Store one vote per person", "Close it after a day", "Sum up what is owed"],
  ),
  todos(
    "what is behind others, and there are none",
    "Left of #412:\n\n## Follow-ups\n- [ ] Rename\n- [ ] Test\n\n## Done when\n- [ ] It is green\n",
    ["Rename", "Test"],
    [["Done when", 1, "conditions"]],
  ),
  todos(
    "what is behind others",
    "## Parser\n- [ ] Quotes\n\n## Backlog\n- [ ] Tables\n",
    ["Quotes"],
    [["Backlog", 1, "out of scope"]],
  ),
];
