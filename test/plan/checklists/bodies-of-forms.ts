import { type Body, done, todos } from "./body.ts";

/** Issues that a form shaped, whose own words must not be taken for work, and work beside them not for a part of the form. */
export const BODIES_OF_FORMS: readonly Body[] = [
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
];
