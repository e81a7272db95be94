/**
 * No choice in it reads beyond the next escape, so it takes no longer than the text is long. That of Node looks through the whole rest for
 * the end of each title that is begun. A title has no line break: what printed one must not take the lines of others out with it.
 */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
  /\u001b\][^\u0007\n\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|[\u001b\u009b][[\]()#;?]*(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-ntqry=><~]/g;

/** The text without colours, titles, links and movements of the cursor that programs print for terminals. */
export function withoutEscapes(text: string): string {
  return text.replace(ESCAPES, "");
}
