/** Characters that drive a terminal or reverse the order of reading. Marks that right-to-left scripts need stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const STEERING = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/**
 * The same text, with what would drive the terminal of a person who prints the file written out (`\u{1b}`). For whatever
 * agents and strangers say, before it becomes a part of a plan's files.
 */
export function visibleText(text: string): string {
  return text.replace(STEERING, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
