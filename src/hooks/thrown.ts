const MAX_REASON = 2000;

/** What was thrown, in words, whatever it was: plugins throw texts, nothing at all, and objects that cannot be shown. */
export function describeThrown(error: unknown): string {
  const text = textOf(error).trim();
  if (text === "") return "an error without a message";
  return text.length > MAX_REASON ? `${text.slice(0, MAX_REASON)}…` : text;
}

function textOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return "something that cannot be shown";
  }
}
