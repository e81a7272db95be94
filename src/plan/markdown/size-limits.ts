/** What a plan's text may be: more is nothing that agents could work through. */
export const MAX_TEXT_BYTES = 512 * 1024;
export const MAX_LINES = 30_000;
export const MAX_TODOS = 1000;

/** Reading costs time for each line and each character; what has more of them is not read at all. */
const MAX_READ_CHARACTERS = 2_500_000;
/** A file that is longer has more characters than that, whatever they are: the rest of it changes nothing. */
export const MAX_READ_BYTES = (MAX_READ_CHARACTERS + 2) * 3;

/**
 * Why the text is not one, in words for people: read as UTF-8, the mark that UTF-16 begins with is not a character, and every other byte of
 * plain words is 0.
 */
export function encodingProblem(text: string): string | undefined {
  const isOther = text.startsWith("\ufffd\ufffd") || text[0] === "\0" || text[1] === "\0";
  return isOther ? "The text is not UTF-8 but another encoding, UTF-16 it seems: save it as UTF-8." : undefined;
}

/** Why the text is larger than a plan may be, in words for people. */
export interface SizeProblem {
  readonly why: string;
  readonly isReadable: boolean;
}

export function sizeProblem(text: string): SizeProblem | undefined {
  const lines = text.length > MAX_LINES ? lineBreaks(text) : 0;
  if (lines > MAX_LINES)
    return { why: `The text has ${lines} lines; a plan may have ${MAX_LINES}.`, isReadable: false };
  // Three bytes a character at most: only text that might be too large is counted.
  if (text.length * 3 <= MAX_TEXT_BYTES || Buffer.byteLength(text) <= MAX_TEXT_BYTES) return undefined;
  const why = `The text is larger than ${MAX_TEXT_BYTES / 1024} KB.`;
  return { why, isReadable: text.length <= MAX_READ_CHARACTERS };
}

export function todosProblem(count: number): string | undefined {
  return count > MAX_TODOS ? `The text has ${count} TODOs; a plan may have ${MAX_TODOS}.` : undefined;
}

function lineBreaks(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 10 || (code === 13 && text.charCodeAt(at + 1) !== 10)) count += 1;
  }
  return count;
}
