import type { Word, WordPart } from "unbash";

const isProcess = (part: WordPart | undefined): boolean => part?.type === "ProcessSubstitution";

const partsOf = ({ text, value, pos, end, parts }: Word): readonly WordPart[] =>
  parts ?? [{ type: "Literal", value, text, pos, end }];

/** The parser ends a word at `<(` and behind its `)`; to the shell, `--file=<(…)` and `""<(…)` are one. */
export function joinWords(words: readonly Word[]): readonly Word[] {
  if (!words.some(({ parts }) => isProcess(parts?.[0]))) return words;
  const joined: Word[] = [];
  for (const word of words) {
    const before = joined.at(-1);
    if (before?.end === word.pos && (isProcess(word.parts?.[0]) || isProcess(before.parts?.at(-1)))) {
      const [text, value] = [before.text + word.text, before.value + word.value];
      const parts = [...partsOf(before), ...partsOf(word)];
      joined[joined.length - 1] = { ...before, text, value, parts, end: word.end };
    } else joined.push(word);
  }
  return joined;
}
