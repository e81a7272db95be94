import { type Body, done, none, todos } from "./body.ts";

/** Issues that a form shaped, whose own words must not be taken for work, and work beside them not for a part of the form. */
export const BODIES_OF_FORMS: readonly Body[] = [
  todos(
    "labels that are bold in Jira",
    "We drop what fails.\n\n*Subtasks:*\n1. [ ] Store it\n2. [ ] Try again\n\n*Definition of Done:*\n- [ ] Reviewed\n",
    ["Store it", "Try again"],
    [["Definition of Done", 1, "conditions"]],
  ),
  todos(
    "slanted hints right below headings",
    "### Tasks\n\n_(optional)_\n- [ ] Store it\n\n### Open tasks\n<!-- of the form -->\n*Optional*\n\n- [x] Try again\n\n### Definition of Done\n_Tick off tasks_\n- [ ] Reviewed\n",
    ["Store it"],
    [
      ["Open tasks", 1, "another group"],
      ["Definition of Done", 1, "conditions"],
    ],
  ),
  todos(
    "slanted remarks that have a word of a heading",
    "_Follow-up of #12_\n\n- [ ] Store it\n\n_Edit: added more tasks_\n- [ ] Try again\n\n_Which of these steps comes first?_\n- [ ] Give up\n\n*Updated the plan*\n- [ ] Tell it\n",
    ["Store it", "Try again", "Give up", "Tell it"],
  ),
  todos(
    "headings that are tags",
    '<h3 align="left">Tasks</h3>\n\n- [ ] Route\n\n<details><summary><b>Out of scope</b></summary>\n\n- [ ] Page\n\n</details>\n<h3>Notes</h3>\n\n- [ ] Later\n',
    ["Route"],
    [
      ["Out of scope", 1, "out of scope"],
      ["Notes", 1, "another group"],
    ],
  ),
  todos(
    "bold labels that are tags",
    "<b>Tasks:</b>\n- [ ] Route\n\n<strong>Non-goals</strong>\n- [ ] Page\n",
    ["Route"],
    [["Non-goals", 1, "out of scope"]],
  ),
  todos(
    "what it waits for",
    "Blocked by\n---\n- [ ] #331\n\n## Search\n- [ ] Index the titles\n",
    ["Index the titles"],
    [["Blocked by", 1, "what it waits for"]],
  ),
  todos(
    "the form of a pull request behind the work",
    "- [ ] Reproduce\n- [ ] Fix\n\n## Checklist\n- [ ] I added tests\n- [ ] My code follows the style\n- [ ] New and existing unit tests pass locally\n- [ ] Docs\n",
    ["Reproduce", "Fix"],
    [["Checklist", 4, "confirmations"]],
  ),
  todos(
    "a choice with asides in its question",
    "### Which area(s) of the framework are affected? (leave empty if unsure)\n- [ ] Router\n- [x] Middleware\n\n### Fix\n- [ ] Header line\n",
    ["Header line"],
    [["Which area(s) of the framework are affected? (leave empty if unsure)", 2, "choices"]],
  ),
  todos(
    "a choice with a long question",
    "### Which @scope/* package(s) of ours are the source of the bug?\n- [x] core\n- [ ] router\n\n### Fix\n- [ ] Header line\n",
    ["Header line"],
    [["Which @scope/* package(s) of ours are the source of the bug?", 2, "choices"]],
  ),
  todos(
    "what is wanted, below the question of a form",
    "#### What would you like to be added?\n- [ ] A flag\n- [ ] Its page\n\n#### Why is this needed?\nOperators.\n\n#### Would you be willing to work on a pull request for this?\n- [ ] Yes\n- [ ] No\n",
    ["A flag", "Its page"],
    [["Would you be willing to work on a pull request for this?", 2, "choices"]],
  ),
  todos(
    "what should be done, below a question",
    "## Which endpoints should be migrated?\n- [ ] /users\n- [ ] /teams\n\n## What are the acceptance criteria?\n- [ ] Old clients work\n",
    ["/users", "/teams"],
    [["What are the acceptance criteria?", 1, "conditions"]],
  ),
  none(
    "how often a fault is seen",
    "### How often does this happen?\n- [x] Always\n- [ ] Once\n",
    [],
    [["How often does this happen?", 2, "choices"]],
  ),
  todos("tasks below a question", "### Which tasks are left?\n- [ ] Header line\n", ["Header line"]),
  todos(
    "the form for requests that most repositories have",
    "**Describe the solution you'd like**\n- [ ] Cache\n- [ ] A flag for it\n\n**Describe alternatives you've considered**\n- [ ] Nothing\n",
    ["Cache", "A flag for it"],
    [["Describe alternatives you've considered", 1, "out of scope"]],
  ),
  todos(
    "tasks of others",
    "## Proposal\n1. [ ] Route\n2. [ ] Button\n\n## Tasks for reviewers\n- [ ] Look at the names\n",
    ["Route", "Button"],
    [["Tasks for reviewers", 1, "conditions"]],
  ),
  todos(
    "more of the work behind a part that folds",
    "## Tasks\n- [ ] Route\n\n<details><summary>How to reproduce</summary>\n\n### With curl\n- [ ] Call it\n\n</details>\n<details>\n<summary>Acceptance criteria</summary>\n\n- [ ] Quick\n</details>\n\n- [ ] Button\n",
    ["Route", "Button"],
    [
      ["How to reproduce", 1, "how a fault is seen"],
      ["Acceptance criteria", 1, "conditions"],
    ],
  ),
  todos(
    "numbers before the bullets of boxes",
    "## Tasks\n1. - [x] Draw it\n2. - [ ] Print it\n     On thick paper.\n3. * [ ] Fold it\n",
    ["Draw it", "Print it", "Fold it"],
  ),
  todos(
    "a label that is bold twice",
    "**__Tasks__**\n- [ ] Cut\n\n**__Acceptance criteria__**\n- [ ] It is cut\n",
    ["Cut"],
    [["Acceptance criteria", 1, "conditions"]],
  ),
  done(
    "two lists, no answer which of them, and all of it is done",
    "## Before\n- [x] Tell people\n\n## Then\n- [x] Pull the plug\n",
    ["Tell people", "Pull the plug"],
  ),
  todos(
    "parts of a month's work, and what was put off",
    "## Plan items\n\n### Editor\n- [ ] Fold\n\n### Deferred rendering\n- [ ] Shade\n\n### Deferred items\n- [ ] Print\n\n## Future possibilities\n- [ ] Speak\n",
    ["Fold", "Shade"],
    [
      ["Deferred items", 1, "out of scope"],
      ["Future possibilities", 1, "out of scope"],
    ],
  ),
  todos(
    "parts side by side, with labels for what was put off",
    "Parser:\n- [ ] Read\n\nPrinter:\n- [ ] Write\n\nDocs:\n- [ ] Tell\n\nPostponed:\n- [ ] Sing\n\nMoved to 2.3:\n- [ ] Dance\n",
    ["Read", "Write", "Tell"],
    [
      ["Postponed", 1, "out of scope"],
      ["Moved to 2.3", 1, "out of scope"],
    ],
  ),
  todos(
    "files that are left beside those that are done",
    "Files that still need a type:\n- [ ] `a.js`\n- [x] `b.js`\n\n<details><summary>Done in the last round</summary>\n\n- [x] `c.js`\n\n</details>\n",
    ["`a.js`", "`b.js`"],
    [["Done in the last round", 1, "another group"]],
  ),
  todos(
    "two headings that say work, and one of them is done",
    "## Tasks\n- [x] Draw\n\n## Next steps\n- [ ] Paint\n",
    ["Paint"],
    [["Tasks", 1, "another group"]],
  ),
  todos(
    "a maintainer who acknowledges something",
    "We should do:\n- [ ] Sort\n\n### Committer\n- [X] I acknowledge that I am a maintainer of the project.\n",
    ["Sort"],
    [["Committer", 1, "confirmations"]],
  ),
  todos(
    "conditions as they are called in Brazil, and those for a beginning",
    "## Tarefas\n- [ ] Ordenar\n\n## Critérios de aceite\n- [ ] Fica em ordem\n\n## Definition of Ready\n- [ ] Estimated\n",
    ["Ordenar"],
    [
      ["Critérios de aceite", 1, "conditions"],
      ["Definition of Ready", 1, "conditions"],
    ],
  ),
  none(
    "questions of a form, short and long",
    "### What operating system(s) are you using?\n- [ ] Windows\n- [x] Linux\n\n**Do you want to ask for something new or to report a fault?**\n\n- [x] Something new\n- [ ] A fault\n\n### How has this been tested?\n- [ ] Test A\n\n### AI acknowledgment\n- [x] No model wrote this\n",
    [],
    [
      ["What operating system(s) are you using?", 2, "choices"],
      ["Do you want to ask for something new or to report a fault?", 2, "choices"],
      ["How has this been tested?", 1, "choices"],
      ["AI acknowledgment", 1, "confirmations"],
    ],
  ),
  todos("a question for the work", "## How do we get there?\n- [ ] Walk\n- [ ] Swim\n", ["Walk", "Swim"]),
  todos(
    "a long question for the work",
    "## What still has to change in the server before the release can be made?\n- [ ] Walk\n",
    ["Walk"],
  ),
  none(
    "what a form asks for without a question",
    "### Risk level\n- [ ] low\n- [x] high\n\n### Browsers affected\n- [ ] Chrome\n\n### Actual results\n- [ ] Nothing\n\n### Contribution\n- [ ] Yes, I am willing to\n- [ ] No, I am not\n\nPlease check that:\n- [ ] It works\n",
    [],
    [
      ["Risk level", 2, "choices"],
      ["Browsers affected", 1, "choices"],
      ["Actual results", 1, "how a fault is seen"],
      ["Contribution", 2, "confirmations"],
      ["Please check that", 1, "confirmations"],
    ],
  ),
  none(
    "what a report is and is not",
    "### Checklist\n- [x] This is not a support request\n- [x] The bug has not been reported yet\n\n### Checks\n- [x] Not a duplicate\n\n### Feature\nA table of sizes\n",
    [],
    [
      ["Checklist", 2, "confirmations"],
      ["Checks", 1, "confirmations"],
    ],
  ),
  todos(
    "what is done if the work fails, and how it is looked at",
    "## Rollout\n- [ ] Switch the jobs\n\n## Verification steps\n- [ ] Look at the queue\n\n## Rollback plan\n- [ ] Revert the label\n\n## Related tasks\n- [ ] #7\n",
    ["Switch the jobs"],
    [
      ["Verification steps", 1, "conditions"],
      ["Rollback plan", 1, "out of scope"],
      ["Related tasks", 1, "out of scope"],
    ],
  ),
  todos(
    "questions with chapters, and with a label",
    "# Can we drop Node 16?\n## Build\n- [ ] Raise engines\n## Tests\n- [ ] Drop 16\n## Docs\n- [ ] Say so\n\n# Which platforms?\nSelect all that apply:\n- [ ] macOS\n",
    ["Raise engines", "Drop 16", "Say so"],
    [["Which platforms?", 1, "choices"]],
  ),
  todos(
    "what keeps a release from going out, beside what is done and what follows",
    "## Overview\n### Blockers for 6.6\n- [ ] Keep the layout\n### Follow-ups\n- [ ] Export\n### Completed\n- [x] Grid\n",
    ["Keep the layout"],
    [
      ["Follow-ups", 1, "out of scope"],
      ["Completed", 1, "another group"],
    ],
  ),
  todos(
    "qualities beside the work",
    "## Non-functional requirements\n- [ ] Performance\n\n## Implementation plan\n1. [ ] Add a column\n",
    ["Add a column"],
    [["Non-functional requirements", 1, "conditions"]],
  ),
  none(
    "what is said about a proposal",
    "### ✅ Viability Checklist\n- [x] This wouldn't be a breaking change\n- [x] This could be implemented without a new format\n\n### Suggestion\nTwo columns.\n",
    [],
    [["✅ Viability Checklist", 2, "confirmations"]],
  ),
  none(
    "what is said about a fault",
    "- [x] The issue is present in the latest release.\n- [x] The provided reproduction is minimal.\n\n## Behavior\nIt crashes.\n",
    [],
    [["", 2, "confirmations"]],
  ),
  none(
    "a form for output",
    "### Provide output that clearly demonstrates the problem\n- [x] Run it with `-v`\n- [ ] Copy the whole output\n",
    [],
    [["Provide output that clearly demonstrates the problem", 2, "how a fault is seen"]],
  ),
  none(
    "yes or no below what is no question",
    "**Breaking change**\n- [ ] Yes\n- [x] No\n\n**Affects**\n- [x] Linux\n- [ ] Windows\n",
    [],
    [
      ["Breaking change", 2, "choices"],
      ["Affects", 2, "choices"],
    ],
  ),
  todos("goals that begin with no", "## Goals\n- [ ] No locks\n- [ ] No-op mode\n", ["No locks", "No-op mode"]),
  none(
    "dependencies that are issues, and test cases",
    "## Acceptance criteria\n- [ ] Fast\n\n## Dependencies\n- [ ] #12\n- [ ] other/one#3\n\n## Test cases\n- [ ] Log in\n",
    [],
    [
      ["Acceptance criteria", 1, "conditions"],
      ["Dependencies", 2, "what it waits for"],
      ["Test cases", 1, "conditions"],
    ],
  ),
  todos("dependencies to work on", "## Dependencies\n- [ ] Update the parser\n", ["Update the parser"]),
  todos(
    "a count in the heading, and a breakdown",
    "## 📌 2. Tasks [1/2]\n- [ ] Route\n- [x] Model\n\n## Risks\n- [ ] Slow\n",
    ["Route", "Model"],
    [["Risks", 1, "another group"]],
  ),
  todos(
    "a breakdown",
    "## Task breakdown\n- [ ] Route\n\n## Risks\n- [ ] Slow\n",
    ["Route"],
    [["Risks", 1, "another group"]],
  ),
  todos("items with comments", "## Tasks\n- [ ] Route <!-- Kim -->\n- [ ] <!-- later? -->Page\n", ["Route", "Page"]),
  todos(
    "a box that is only a heading",
    "- [ ] Tasks:\n  - [ ] Route\n  - [x] Model\n- [ ] Task 1\n  - [ ] Step 1\n",
    ["Route", "Model"],
    [["", 1, "placeholders"]],
  ),
];
