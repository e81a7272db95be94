/** What our comments end with: GitHub does not show it, and it is how a post is found again. */
const MARKER = /\n\n<!-- prloom ([^\s<>]{1,300}) -->$/;

/** Room that a marker takes of a comment. */
export const MARKER_LENGTH = 330;

export const withMarker = (body: string, id: string): string => `${body}\n\n<!-- prloom ${id} -->`;

/** The text that was posted and its id; no id in what has no marker at its very end. */
export function splitMarker(text: string): { readonly body: string; readonly id: string | undefined } {
  const found = MARKER.exec(text);
  return found ? { body: text.slice(0, found.index), id: found[1] } : { body: text, id: undefined };
}
