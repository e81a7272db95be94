/** Nobody nests deeper on purpose; what walks or writes a value goes down with it, and the stack ends somewhere. */
const MOST_DEPTH = 500;

/** As `JSON.parse`, for text that somebody else wrote: what is nested too deep is no JSON either. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`it is nested deeper than ${MOST_DEPTH}`);
  return JSON.parse(text);
}

const [QUOTE, BACKSLASH] = ['"', "\\"].map((mark) => mark.charCodeAt(0));
const [OPENING, CLOSING] = ["[{", "]}"].map((marks) => new Set([...marks].map((mark) => mark.charCodeAt(0))));

/** Counts brackets outside of strings, character by character: whatever the text is, that takes no longer than its length. */
function isTooDeep(text: string): boolean {
  // A text this short cannot be.
  if (text.length <= MOST_DEPTH) return false;
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isString && code === BACKSLASH) at += 1;
    else if (code === QUOTE) isString = !isString;
    else if (isString) continue;
    else if (OPENING?.has(code)) depth += 1;
    else if (CLOSING?.has(code)) depth -= 1;
    if (depth > MOST_DEPTH) return true;
  }
  return false;
}
