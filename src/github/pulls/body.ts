const BEGIN = "<!-- prloom begins: what stands between these lines is written anew -->";
const END = "<!-- prloom ends -->";
const MAX_BODY = 65_536;
const CUT = "\n\n… (too long for GitHub: the rest is left out)";

/** Pure: a description in which our part says this; what people wrote before and after it stays. */
export function withOurPart(body: string, ours: string): string {
  const { before, after } = around(body);
  const said = withoutMarkers(ours);
  const room = MAX_BODY - before.length - after.length - BEGIN.length - END.length - 4;
  // People's words come first: where they leave no room, ours are shortened.
  const part = said.length <= room ? said : `${said.slice(0, Math.max(0, room - CUT.length)).toWellFormed()}${CUT}`;
  return `${before}${BEGIN}\n${part}\n${END}${after}`;
}

function around(body: string): { readonly before: string; readonly after: string } {
  const from = body.indexOf(BEGIN);
  const to = body.lastIndexOf(END);
  if (from !== -1 && to > from) return { before: body.slice(0, from), after: body.slice(to + END.length) };
  // A person took the markers out: our part comes again below what they wrote.
  const rest = body.replaceAll(BEGIN, "").replaceAll(END, "").trimEnd();
  return { before: rest === "" ? "" : `${rest}\n\n`, after: "" };
}

/** Taken away, they would bring together what stood around them: an order that was none while they were there. */
export const withoutMarkers = (text: string): string => text.replaceAll("<!-- prloom", "<!--  prloom");
