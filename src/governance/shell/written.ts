import { mayBeUnpacked } from "./links.ts";
import { isIn } from "./normal-path.ts";
import { type Spot, spend } from "./state/state.ts";
import { cameFrom, eitherFlow, type FileContent, type Flow, FROM, joinFlows, OUTPUT } from "./values/flow.ts";
import { fitsPattern } from "./values/glob.ts";
import { beforePattern, describeText, isPlain, lastNameOf, placeOfFound, type Text } from "./values/text.ts";

const amongOf = (all: readonly Text[]): string | undefined =>
  all.length > 1 ? all.map(describeText).join("\n") : undefined;

/** A name that `mktemp` makes, or that has a number in it, is a pattern, and means one file. */
const isOneName = (one: Text): one is Extract<Text, { type: "known" | "glob" }> => one.type === "known" || isPlain(one);

/** What this line wrote to one of these paths, or what was `before` at others of them; undefined when it did not. */
export function contentAt(all: readonly Text[], spot: Spot, before: (path: Text) => Flow): Flow | undefined {
  const { files, unpacked, unpackedInto = [], place } = spot.line;
  const among = amongOf(all);
  const found = all.map((one): Flow | undefined => {
    if (one.type === "unknown") return undefined;
    const written = isOneName(one) ? files.get(one.text) : undefined;
    if (one.type !== "known" && !written)
      return joinSome(writtenBelow(one, spot)) ?? (mayBeUnpacked(one, "writes", unpackedInto) ? unpacked : undefined);
    if (written) return written.among === among && written.last ? written.last : written;
    return unpacked && place.look(one.text) === undefined ? unpacked : undefined;
  });
  const some = found.filter((flow) => flow !== undefined);
  if (some.length === 0) return undefined;
  return eitherFlow(found.map((flow, at) => flow ?? before(all[at] as Text)));
}

/** Several files are printed one behind the other; where that cannot be told, what runs them may run each. */
function joinSome(flows: readonly Flow[]): Flow | undefined {
  const joined = flows.length > 0 ? joinFlows(flows) : undefined;
  return joined && joined.text === undefined ? eitherFlow(flows) : joined;
}

/** Keeps what is in a file now, for what reads or runs it later in the line. What was there before may still be: a condition may decide. */
export function keepContent(
  all: readonly Text[],
  flow: Flow,
  { spot, appends }: { spot: Spot; appends: boolean },
): void {
  const { files } = spot.line;
  const among = amongOf(all);
  for (const one of all) {
    if (!isOneName(one)) continue;
    const entry = files.get(one.text);
    spend(spot, entry?.either?.length ?? 0);
    const before = entry?.among === among ? (entry?.last ?? entry) : entry;
    // What came from elsewhere may still be in it.
    const isFetched = entry && entry.from & (FROM.network | FROM.decoded);
    let last = flow;
    if (before) last = appends ? joinFlows([before, flow]) : eitherFlow([...wholes(before), flow]);
    if (isFetched && !appends) files.set(one.text, cameFrom(entry.from | flow.from));
    else if (among === undefined) files.set(one.text, last);
    else
      files.set(one.text, { ...eitherFlow([...(entry ? wholes(entry) : [cameFrom(FROM.files)]), last]), among, last });
  }
}

/** What it may be, apart from what is not followed: that stands there while something is written. */
const wholes = (entry: FileContent): readonly Flow[] => (entry.either ?? [entry]).filter((one) => one !== OUTPUT);

/** What this line wrote into files that a pattern or a search can mean. */
export function writtenBelow(meant: Extract<Text, { type: "glob" | "found" }>, spot: Spot): Flow[] {
  spend(spot, spot.line.files.size >> 3);
  const start = meant.type === "glob" ? beforePattern(meant.text) : placeOfFound(meant).folder;
  const pattern = meant.type === "found" ? lastNameOf(meant) : undefined;
  const some: Flow[] = [];
  for (const [name, written] of spot.line.files) {
    const isBelow = meant.type === "glob" ? name.startsWith(start) : isIn(name, start);
    const last = name.slice(name.lastIndexOf("/") + 1);
    if (isBelow && (pattern === undefined || fitsPattern(pattern, last))) some.push(written);
  }
  return some;
}
