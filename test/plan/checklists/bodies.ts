import type { LeftOut } from "../../../src/plan/checklists/checklist.ts";

/** The body of an issue, and what is to be understood of it. */
export interface Body {
  readonly name: string;
  readonly text: string;
  readonly kind: "todos" | "all-ticked" | "unclear" | "none";
  /** The TODOs, or the headings of which one is to be chosen. */
  readonly found?: readonly string[];
  readonly leftOut?: readonly [heading: string, count: number, why: LeftOut["why"]][];
}

const of =
  (kind: Body["kind"]) =>
  (name: string, text: string, found: readonly string[] = [], leftOut: Body["leftOut"] = []): Body => ({
    name,
    text,
    kind,
    found,
    leftOut,
  });
const todos = of("todos");
const done = of("all-ticked");
const unclear = of("unclear");
const none = of("none");

export const BODIES: readonly Body[] = [
  todos(
    "Tasks below a third-level heading",
    "Uploads fail.\n\n### Tasks\n\n- [ ] Retry once\n- [ ] Tell the person\n",
    ["Retry once", "Tell the person"],
  ),
  todos("To-do list, with a hyphen", "## To-do list\n- [ ] Draw the icon\n- [x] Choose a colour\n", [
    "Draw the icon",
    "Choose a colour",
  ]),
  todos("Action items", "# Meeting\n\n## Action items:\n\n* [ ] Write to the board\n* [ ] Book the room\n", [
    "Write to the board",
    "Book the room",
  ]),
  todos("Work items with plus signs", "#### Work items\n+ [ ] One query less\n", ["One query less"]),
  todos("Steps, numbered", "## Steps\n\n1. [ ] Split the table\n2. [ ] Fill the new one\n3. [ ] Drop the old one\n", [
    "Split the table",
    "Fill the new one",
    "Drop the old one",
  ]),
  todos("Implementation plan", "## Implementation plan\n- [ ] Parse\n- [ ] Print\n", ["Parse", "Print"]),
  todos("Checklist with a capital X", "## Checklist\n- [X] Parse\n- [ ] Print\n", ["Parse", "Print"]),
  todos("Requirements", "**Requirements**\n\n- [ ] Works offline\n- [ ] Under 2 MB\n", ["Works offline", "Under 2 MB"]),
  todos(
    "Goals beside non-goals",
    "## Goals\n- [ ] Sort by date\n\n## Non-goals\n- [ ] Sort by name\n",
    ["Sort by date"],
    [["Non-goals", 1, "out of scope"]],
  ),
  todos("a label with a colon", "We saw this last week.\n\nTasks:\n- [ ] Close the socket\n", ["Close the socket"]),
  todos("a bold label with its colon inside", "**Next steps:**\n\n- [ ] Close the socket\n", ["Close the socket"]),
  todos("an underlined heading", "Tasks\n=====\n\n- [ ] Close the socket\n", ["Close the socket"]),
  todos("an underlined second-level heading", "Remaining work\n---\n- [ ] Close the socket\n", ["Close the socket"]),
  todos("emoji and a number in the heading", "## 📋 2. Tasks ✅\n- [ ] Close the socket\n", ["Close the socket"]),
  todos("lines that end as on Windows", "### Tasks\r\n\r\n- [ ] One\r\n- [ ] Two\r\n", ["One", "Two"]),
  todos(
    "comments between the items",
    "### Tasks\n- [ ] One\n<!-- backend -->\n- [ ] Two\n\n<!-- frontend -->\n\n- [ ] Three\n",
    ["One", "Two", "Three"],
  ),
  todos(
    "sub-headings below the heading that says work",
    "## Tasks\n\n### Backend\n- [ ] Route\n\n### Frontend\n- [ ] Button\n",
    ["Route", "Button"],
  ),
  todos(
    "labels below the heading that says work",
    "## Tasks\n\n**Backend**\n- [ ] Route\n\n**Frontend**\n- [ ] Button\n",
    ["Route", "Button"],
  ),
  todos(
    "a sentence below the heading that says work",
    "## Tasks\nPlease do these in order:\n- [ ] Route\n- [ ] Button\n",
    ["Route", "Button"],
  ),
  todos("boxes below plain items", "## Plan\n1. Server\n   - [ ] Route\n2. Page\n   - [ ] Button\n   - [ ] Style\n", [
    "Route",
    "Button",
    "Style",
  ]),
  todos(
    "TODO among others that say work",
    "## Goals\n- [ ] Be fast\n\n### TODO\n- [ ] Cache it\n",
    ["Cache it"],
    [["Goals", 1, "another group"]],
  ),
  todos("one group whose heading says nothing", "## Export\nIt should write CSV.\n- [ ] Header line\n- [ ] Quotes\n", [
    "Header line",
    "Quotes",
  ]),
  todos("boxes without any heading", "Please:\n\n- [ ] Header line\n- [ ] Quotes\n", ["Header line", "Quotes"]),
  todos("boxes alone", "- [ ] Header line\n- [ ] Quotes\n", ["Header line", "Quotes"]),
  todos("three parts side by side", "## Server\n- [ ] Route\n\n## Page\n- [ ] Button\n\n## Guide\n- [ ] Chapter\n", [
    "Route",
    "Button",
    "Chapter",
  ]),
  todos(
    "three phases as labels",
    "**Phase 1**\n- [ ] Route\n\n**Phase 2**\n- [ ] Button\n\n**Phase 3**\n- [ ] Chapter\n",
    ["Route", "Button", "Chapter"],
  ),
  todos(
    "work and acceptance criteria",
    "## Tasks\n- [ ] Route\n\n## Acceptance criteria\n- [ ] Answers in 100 ms\n- [ ] Has a test\n",
    ["Route"],
    [["Acceptance criteria", 2, "conditions"]],
  ),
  todos(
    "what a form asks before it can be sent",
    "### Pre-flight checklist\n- [x] Searched for the same\n- [x] Newest version\n\n### What should change\n- [ ] Header line\n",
    ["Header line"],
    [["Pre-flight checklist", 2, "confirmations"]],
  ),
  todos(
    "first-person statements below a plain heading",
    "### Checklist\n- [x] I searched the open issues\n- [x] I've read the guide\n\n### Proposal\n- [ ] Header line\n",
    ["Header line"],
    [["Checklist", 2, "confirmations"]],
  ),
  todos(
    "a question that is answered with yes",
    "### Is there an existing issue for this?\n- [x] Looked, found none\n\n### Tasks\n- [ ] Header line\n",
    ["Header line"],
    [["Is there an existing issue for this?", 1, "confirmations"]],
  ),
  todos(
    "choices of a form",
    "### Type of change\n- [ ] Bug fix\n- [x] Feature\n\n### Operating system\n- [x] Linux\n- [ ] macOS\n\n### Work items\n- [ ] Header line\n",
    ["Header line"],
    [
      ["Type of change", 2, "choices"],
      ["Operating system", 2, "choices"],
    ],
  ),
  todos(
    "placeholders of a template",
    "## Tasks\n- [ ] Header line\n- [ ] Task 2\n- [ ] ...\n- [ ] <!-- more -->\n- [ ]\n",
    ["Header line"],
    [["Tasks", 4, "placeholders"]],
  ),
  todos(
    "later and nice to have",
    "## Tasks\n- [ ] Header line\n\n## Nice to have\n- [ ] Colours\n\n## Future work\n- [ ] XML\n",
    ["Header line"],
    [
      ["Nice to have", 1, "out of scope"],
      ["Future work", 1, "out of scope"],
    ],
  ),
  todos("a part that folds", "<details>\n<summary>Tasks</summary>\n\n- [ ] Header line\n\n</details>\n", [
    "Header line",
  ]),
  todos(
    "context below a box",
    "## Tasks\n- [ ] Header line\n  with the units\n\n  - [ ] metres\n  - [ ] seconds\n- [ ] Quotes\n",
    ["Header line", "Quotes"],
  ),
  todos(
    "German",
    "## Aufgaben\n- [ ] Kopfzeile\n\n## Akzeptanzkriterien\n- [ ] Läuft ohne Netz\n",
    ["Kopfzeile"],
    [["Akzeptanzkriterien", 1, "conditions"]],
  ),
  todos(
    "French",
    "### Tâches à faire\n- [ ] En-tête\n\n### Hors périmètre\n- [ ] XML\n",
    ["En-tête"],
    [["Hors périmètre", 1, "out of scope"]],
  ),
  todos("Spanish", "## Lista de tareas\n- [ ] Cabecera\n", ["Cabecera"]),
  todos(
    "Portuguese",
    "## Tarefas\n- [ ] Cabeçalho\n\n## Critérios de aceitação\n- [ ] Sem rede\n",
    ["Cabeçalho"],
    [["Critérios de aceitação", 1, "conditions"]],
  ),
  todos("Russian", "## Задачи\n- [ ] Заголовок\n", ["Заголовок"]),
  todos(
    "Chinese",
    "## 待办事项\n- [ ] 表头\n\n## 验收标准\n- [ ] 离线可用\n",
    ["表头"],
    [["验收标准", 1, "conditions"]],
  ),
  todos("Japanese", "## やることリスト\n- [ ] 見出し行\n", ["見出し行"]),
  todos("Korean", "## 할 일\n- [ ] 머리글\n", ["머리글"]),
  todos(
    "boxes in code and quotes beside real ones",
    "## Tasks\n```\n- [ ] Not this\n```\n> - [ ] Nor this\n\n- [ ] This\n",
    ["This"],
  ),
  todos("a heading that begins with the word", "## Tasks for the 2.0 release\n- [ ] Header line\n", ["Header line"]),
  todos(
    "steps to reproduce are no work",
    "## Steps to reproduce\n- [x] Open the page\n- [x] Press save\n\n## Tasks\n- [ ] Keep what was typed\n",
    ["Keep what was typed"],
    [["Steps to reproduce", 2, "how a fault is seen"]],
  ),
  done("every box is ticked", "## Tasks\n- [x] Route\n- [X] Button\n", ["Route", "Button"]),
  todos("boxes right below the title", "# Dark mode\n\n- [ ] Colours\n- [ ] Switch\n", ["Colours", "Switch"]),
  todos(
    "sub-issues of an epic beside its milestones",
    "## Sub-issues\n- [ ] Schema\n- [ ] Import\n\n## Milestones\n- [ ] Beta\n- [ ] Release\n",
    ["Schema", "Import"],
    [["Milestones", 2, "another group"]],
  ),
  todos(
    "what reviewers tick",
    "I think what we need is:\n- [ ] Header line\n\n**Checklist for reviewers:**\n- [ ] Tests pass\n",
    ["Header line"],
    [["Checklist for reviewers", 1, "conditions"]],
  ),
  todos(
    "to be done, with a reviewer's checklist and open questions",
    "## To be done\n- [ ] Header line\n\n## Reviewer checklist\n- [ ] Tests pass\n\n## Open questions\n- [ ] CSV or XML?\n",
    ["Header line"],
    [
      ["Reviewer checklist", 1, "conditions"],
      ["Open questions", 1, "questions"],
    ],
  ),
  todos(
    "what a ticket is not about",
    "## Offene Punkte\n- [ ] Kopfzeile\n\n## Nicht Teil dieses Tickets\n- [ ] XML\n",
    ["Kopfzeile"],
    [["Nicht Teil dieses Tickets", 1, "out of scope"]],
  ),
  done(
    "every box of the work is ticked, conditions are open",
    "## Tasks\n- [x] Route\n\n## Acceptance criteria\n- [ ] Has a test\n",
    ["Route"],
    [["Acceptance criteria", 1, "conditions"]],
  ),
  unclear("two headings that say work", "## Goals\n- [ ] Be fast\n\n## Tasks\n- [ ] Cache it\n", ["Goals", "Tasks"]),
  unclear("two headings that say nothing", "## Server\n- [ ] Route\n\n## Page\n- [ ] Button\n", ["Server", "Page"]),
  unclear(
    "three parts on different levels",
    "## Server\n- [ ] Route\n\n### Cache\n- [ ] Keys\n\n## Page\n- [ ] Button\n",
    ["Server", "Cache", "Page"],
  ),
  unclear("two exact ones", "### TODO\n- [ ] Route\n\n### To do\n- [ ] Button\n", ["TODO", "To do"]),
  none(
    "only criteria",
    "Make it faster.\n\n## Acceptance criteria\n- [ ] Answers in 100 ms\n\n## Definition of done\n- [ ] Has a test\n",
    [],
    [
      ["Acceptance criteria", 1, "conditions"],
      ["Definition of done", 1, "conditions"],
    ],
  ),
  none(
    "only a form",
    "### Before submitting\n- [x] Looked for the same\n\n### Would you like to help?\n- [ ] Yes\n",
    [],
    [
      ["Before submitting", 1, "confirmations"],
      ["Would you like to help?", 1, "confirmations"],
    ],
  ),
  none("only placeholders", "## Tasks\n- [ ] Task 1\n- [ ] TBD\n", [], [["Tasks", 2, "placeholders"]]),
  none("no boxes", "## Tasks\n- Route\n- Button\n"),
  none("nothing", ""),
  none("out of scope alone", "## Out of scope\n- [ ] XML\n", [], [["Out of scope", 1, "out of scope"]]),
];
