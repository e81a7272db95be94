const WORD = /[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu;

/** The words of the text; an apostrophe inside a word belongs to it. */
export function wordsOf(text) {
  return text.match(WORD) ?? [];
}

export function countWords(text) {
  return wordsOf(text).length;
}
