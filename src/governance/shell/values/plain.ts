/** Stands in a source for letters and digits of which nothing else is known. */
export const PLAIN = "prloom_plain";

const STAR = "\u{FFFC}";
/** Nothing that makes words, quotes or names depend on what surrounds it. */
const ORDINARY = new RegExp(`^[\\w\\s./:=,@%+"'&|;<>*?!~^[\\]$${STAR}-]*$`);
/** Where a shell would read it as part of a name, of a number of a descriptor, or of a word of its own. */
const TELLING = [
  `<<|\\$(?![A-Za-z_?])|\\b(?:for|select|function|coproc|case)\\b|${PLAIN}`,
  `(?:\\$\\w*|~[^\\s/~]*|[<>]&\\w*|\\[[^\\s[]*)${STAR}`,
  `(?<![\\w${STAR}])\\w*${STAR}[\\w${STAR}]*(?:\\+?=|[<>[])`,
];
const READ_OTHERWISE = new RegExp(TELLING.join("|"));

/**
 * A source that is known but for letters and digits, as a pattern, with a variable in place of each star: a shell then reads
 * the same words. Undefined where that is not sure.
 */
export function withVariables(pattern: string): string | undefined {
  if (pattern.includes(STAR)) return undefined;
  const source = pattern.replace(/\\(.)|\*/gs, (_, character?: string) => character ?? STAR);
  const hasQuotes = source.includes("'");
  if (!ORDINARY.test(source) || READ_OTHERWISE.test(source) || (hasQuotes && source.includes('"'))) return undefined;
  const parts = source.split("'");
  // Between single quotes nothing is expanded: there they are ended for it.
  return parts.map((part, at) => part.replaceAll(STAR, at % 2 ? `'"\${${PLAIN}}"'` : `\${${PLAIN}}`)).join("'");
}
