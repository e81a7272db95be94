const MAX_REASON = 2000;
const MAX_CAUSES = 5;

/**
 * What was thrown, in words, whatever it was, and what caused it: plugins throw strings, nothing at all, and objects that
 * cannot be shown.
 */
export function describeThrown(error: unknown): string {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  for (let one = error; seen.size <= MAX_CAUSES && !seen.has(one); one = causeOf(one)) {
    seen.add(one);
    const text = textOf(one).trim();
    // Code that wraps an error often repeats its message.
    if (text !== "" && !texts.some((said) => said.includes(text))) texts.push(text);
    if (causeOf(one) === undefined) break;
  }
  if (texts.length === 0) return "an error without a message";
  const all = texts
    .map((text, index) => (index < texts.length - 1 ? text.replace(/(?<!\.)\.+$/, "") : text))
    .join(": ");
  return shortReason(all);
}

/** As much of what a plugin gives as a reason as is kept: it is written down with each try, and shown by `status`. */
export function shortReason(text: string): string {
  return text.length > MAX_REASON ? `${text.slice(0, MAX_REASON)}…` : text;
}

/** The text with one full stop at its end, whether or not it had one. */
export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function textOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error);
    // Several addresses were tried: Node gives such an error no message of its own.
    if (error.message === "" && error instanceof AggregateError) return error.errors.map(textOf).join(", ");
    return String(error.message);
  } catch {
    return "something that cannot be shown";
  }
}

function causeOf(error: unknown): unknown {
  try {
    return error instanceof Error ? (error.cause ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}
