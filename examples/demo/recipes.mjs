/**
 * What the demo agent knows how to do: for each kind of TODO the edits that a programmer would make. Real edits of real
 * files: the tests of the project run after each of them.
 */

const COUNT_LINES = `
export function countLines(text) {
  if (text === "") return 0;
  return text.split("\\n").length - (text.endsWith("\\n") ? 1 : 0);
}

/** Characters as people see them: an emoji of several code points is one. */
export function countCharacters(text) {
  return [...new Intl.Segmenter().segment(text)].length;
}
`;

const COUNT_TESTS = `
test("counts lines, with and without a line break at the end", () => {
  assert.deepEqual(["", "a", "a\\n", "a\\nb", "a\\n\\n"].map(countLines), [0, 1, 1, 2, 2]);
});

test("counts characters as people see them", () => {
  assert.equal(countCharacters("né👩‍🚀"), 3);
});
`;

const PROGRAM_TESTS = `import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "../src/program.js";

const read = () => "The cat saw the dog.\\nThe dog ran.\\n";

test("shows everything without a flag", () => {
  assert.equal(run([], read), "2 lines\\n8 words\\n34 characters");
});

test("a flag chooses what is counted", () => {
  assert.equal(run(["--words"], read), "8 words");
  assert.equal(run(["--characters", "--lines"], read), "2 lines\\n34 characters");
});
`;

const TOP_WORDS = `import { wordsOf } from "./count.js";

/** The most frequent words with their counts; equally frequent ones by name. */
export function topWords(text, most) {
  const counts = new Map();
  for (const word of wordsOf(text.toLowerCase())) counts.set(word, (counts.get(word) ?? 0) + 1);
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return sorted.slice(0, most).map(([word, count]) => ({ word, count }));
}
`;

const TOP_TESTS = `import assert from "node:assert/strict";
import { test } from "node:test";
import { topWords } from "../src/frequency.js";
import { run } from "../src/program.js";

test("counts words whatever their case, and sorts equal ones by name", () => {
  const top = topWords("b a B c a", 2);
  assert.deepEqual(top, [
    { word: "a", count: 2 },
    { word: "b", count: 2 },
  ]);
});

test("--top shows that many, and refuses what is not a number", () => {
  assert.match(run(["--words", "--top", "1"], () => "so so la"), /^3 words\\n2 so$/);
  assert.throws(() => run(["--top", "many"], () => ""), /--top needs a whole number/);
});
`;

const JSON_TESTS = `
test("--json is for programs", () => {
  const result = JSON.parse(run(["--json", "--words", "--top", "1"], read));
  assert.deepEqual(result, { words: 8, top: [{ word: "the", count: 3 }] });
});
`;

const VERSION = `
function version() {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}
`;

const VERSION_TESTS = `
test("--version tells the version of the package", () => {
  assert.match(run(["--version"], read), /^\\d+\\.\\d+\\.\\d+$/);
});
`;

const CHOOSE = `const COUNTS = { lines: countLines, words: countWords, characters: countCharacters };

`;

const RENDER = `
function render({ top = [], ...counts }) {
  const lines = Object.entries(counts).map(([name, count]) => \`\${count} \${name}\`);
  return [...lines, ...top.map(({ word, count }) => \`\${count} \${word}\`)].join("\\n");
}
`;

const TOP_CHECK = `
function topOf(text, wanted) {
  const most = Number(wanted);
  if (!Number.isInteger(most) || most < 1) throw new Error(\`--top needs a whole number, not "\${wanted}"\`);
  return topWords(text, most);
}
`;

const PROGRAM = "src/program.js";
const HELP_OPTION = `  help: { type: "boolean", about: "show this help" },\n`;
const HELP_RETURN = "  if (values.help) return help();\n";

function addOption(repository, line) {
  repository.replace(PROGRAM, HELP_OPTION, `${line}\n${HELP_OPTION}`);
}

function countMore(repository) {
  repository.append("src/count.js", COUNT_LINES);
  repository.replace("test/count.test.js", "{ countWords }", "{ countCharacters, countLines, countWords }");
  repository.append("test/count.test.js", COUNT_TESTS);
}

function chooseCounts(repository) {
  repository.replace(PROGRAM, "{ countWords }", "{ countCharacters, countLines, countWords }");
  repository.replace(PROGRAM, "const OPTIONS", `${CHOOSE}const OPTIONS`);
  for (const name of ["lines", "words", "characters"]) {
    addOption(repository, `  ${name}: { type: "boolean", about: "count ${name}" },`);
  }
  repository.replace(
    PROGRAM,
    "  return `${" + "countWords(text)} words`;\n",
    `  const asked = Object.keys(COUNTS).filter((name) => values[name]);
  const result = {};
  for (const name of asked.length > 0 ? asked : Object.keys(COUNTS)) result[name] = COUNTS[name](text);
  return render(result);
`,
  );
  repository.append(PROGRAM, RENDER);
  repository.create("test/program.test.js", PROGRAM_TESTS);
}

function showTop(repository) {
  repository.create("src/frequency.js", TOP_WORDS);
  repository.replace(
    PROGRAM,
    `from "./count.js";\n`,
    `from "./count.js";\nimport { topWords } from "./frequency.js";\n`,
  );
  addOption(repository, `  top: { type: "string", about: "show the n most frequent words" },`);
  const before = "  return render(result);\n";
  repository.replace(
    PROGRAM,
    before,
    `  if (values.top !== undefined) result.top = topOf(text, values.top);\n${before}`,
  );
  repository.append(PROGRAM, TOP_CHECK);
  repository.create("test/frequency.test.js", TOP_TESTS);
}

function printJson(repository) {
  addOption(repository, `  json: { type: "boolean", about: "print JSON" },`);
  repository.replace(
    PROGRAM,
    "  return render(result);\n",
    "  return values.json ? JSON.stringify(result) : render(result);\n",
  );
  repository.append("test/program.test.js", JSON_TESTS);
}

function describeFlags(repository) {
  const section = `## Flags\n\n\`\`\`\n${repository.run("tally.js", "--help").trimEnd()}\n\`\`\`\n`;
  const [before] = repository.read("README.md").split("\n## Flags\n");
  repository.write("README.md", `${before.trimEnd()}\n\n${section}`);
}

function addVersion(repository) {
  repository.replace(PROGRAM, `import { parseArgs }`, `import { readFileSync } from "node:fs";\nimport { parseArgs }`);
  addOption(repository, `  version: { type: "boolean", about: "show the version" },`);
  repository.replace(PROGRAM, HELP_RETURN, `${HELP_RETURN}  if (values.version) return version();\n`);
  repository.append(PROGRAM, VERSION);
  repository.append("test/program.test.js", VERSION_TESTS);
  if (repository.read("README.md").includes("\n## Flags\n")) describeFlags(repository);
}

/** The first recipe whose words are in the TODO is taken. */
export const RECIPES = [
  { words: /lines and characters/i, edit: countMore, done: "countLines and countCharacters, with tests" },
  { words: /--lines.*--words.*--characters/i, edit: chooseCounts, done: "flags choose what is counted" },
  { words: /--top/i, edit: showTop, done: "--top, in src/frequency.js" },
  { words: /--json/i, edit: printJson, done: "--json prints the result for programs" },
  { words: /--version/i, edit: addVersion, done: "--version, from package.json" },
  { words: /flags?.*readme/i, edit: describeFlags, done: "the README shows what --help prints" },
];
