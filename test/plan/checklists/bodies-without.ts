import { type Body, none, unclear } from "./body.ts";

/** Issues of which a person must say what is to be done, or in which nothing is. */
export const BODIES_WITHOUT: readonly Body[] = [
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
    "criteria by their short name, and those of completion",
    "A link by mail.\n\n**AC:**\n- [ ] Given an unknown mail, then the same text\n\n## Completion criteria\n- [ ] Old links fail\n",
    [],
    [
      ["AC", 1, "conditions"],
      ["Completion criteria", 1, "conditions"],
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
  none(
    "a form without a subject",
    "### Checklist\n- [x] Searched the existing issues\n- [x] Using the latest version\n- [x] Read the docs\n\n### What happens\nIt crashes.\n",
    [],
    [["Checklist", 3, "confirmations"]],
  ),
  none(
    "a form that tells what to do",
    "### Checklist\n- [X] Follow our [Code of Conduct](x)\n- [X] Check that there isn't already an issue for this\n",
    [],
    [["Checklist", 2, "confirmations"]],
  ),
  none(
    "forms in other languages",
    "### 检查清单\n- [x] 我使用的是最新版本\n- [x] 已搜索现有 issue\n\n### Checklist\n- [x] Eu pesquisei as issues existentes\n\n### チェックリスト\n- [x] 既存の Issue を確認しました\n\n### 체크리스트\n- [x] 기존 이슈를 검색했습니다\n",
    [],
    [
      ["检查清单", 2, "confirmations"],
      ["Checklist", 1, "confirmations"],
      ["チェックリスト", 1, "confirmations"],
      ["체크리스트", 1, "confirmations"],
    ],
  ),
  none("only placeholders", "## Tasks\n- [ ] Task 1\n- [ ] TBD\n", [], [["Tasks", 2, "placeholders"]]),
  none("no boxes", "## Tasks\n- Route\n- Button\n"),
  none("nothing", ""),
  none("out of scope alone", "## Out of scope\n- [ ] XML\n", [], [["Out of scope", 1, "out of scope"]]),
];
