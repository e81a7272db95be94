import { fitsPath, fitsPattern } from "../shell/values/glob.ts";
import { describeText, type FoundNames, folderBefore, placeOfFound, type Text } from "../shell/values/text.ts";
import { isAnswer, type LocatedPath, locate, type Question } from "./rule.ts";
import { protectedBy } from "./rules/protected-paths.ts";

const GIT_PARTS =
  /(?:^|\/)[^/]*\.git(?:\/(?:objects|refs|logs|hooks|info|worktrees|packed-refs|config|HEAD|index|modules)|$)/i;

/** What protects a path that a command changes, for patterns and names that are looked for as well. */
export function protectedIn(
  path: Text,
  { located, question }: { located: LocatedPath; question: Question },
): string | undefined {
  const { policy } = question;
  const names = path.type === "glob" ? [located, locate(describeText(path), question)] : [located];
  for (const one of names) {
    if (one.inTree !== undefined && GIT_PARTS.test(one.inTree)) return one.inTree;
    const pattern = protectedBy(one, policy.protected);
    if (pattern !== undefined && !isAnswer(one)) return pattern;
    const held = holds(one, policy.protected);
    if (held !== undefined) return held;
  }
  if (path.type === "found") return coveredBySearch(path, { located, question });
  return path.type === "glob" ? coveredByPattern(path, { located, question }) : undefined;
}

/** What a folder has below it is deleted, moved or replaced with the folder. The worktree itself is judged as a whole. */
function holds({ inTree }: LocatedPath, patterns: readonly string[]): string | undefined {
  if (inTree === undefined || inTree === "") return undefined;
  let lines = starts.get(patterns);
  if (lines === undefined) {
    lines = `\n${patterns.join("\n")}`.toLowerCase();
    starts.set(patterns, lines);
  }
  const start = `${inTree.toLowerCase()}/`;
  return lines.includes(`\n${start}`) ? patterns.find((pattern) => pattern.toLowerCase().startsWith(start)) : undefined;
}

/** The patterns of a policy in one text, in small letters. */
const starts = new WeakMap<readonly string[], string>();

/** A pattern that could mean a protected name, as `.gi?` and `.*` do. */
function coveredByPattern(
  path: Extract<Text, { type: "glob" }>,
  { located, question }: { located: LocatedPath; question: Question },
): string | undefined {
  if (located.inTree === undefined) return undefined;
  const rest = path.text.slice(folderBefore(path.text).length);
  const [first = ""] = rest.split("/");
  const fits = matcherOf(first);
  const prefix = located.inTree === "" ? "" : `${located.inTree}/`;
  const { protected: patterns } = question.policy;
  const names = new Set(
    patterns.flatMap((one) => (one.startsWith(prefix) ? one.slice(prefix.length).split("/", 1) : [])),
  );
  for (const name of names) {
    if (name === "" || name.includes("*") || !fits(name)) continue;
    // A plain `*` does not mean names that begin with a dot.
    if (name.startsWith(".") && !/^(?:\\?\.|\[)/.test(first)) continue;
    if (meansInside(rest, name, { located, question }))
      return patterns.find((one) => one.startsWith(`${prefix}${name}`));
  }
  return undefined;
}

/** More folders than these are not looked into: the pattern counts as meaning something there. */
const MAX_FOLDERS = 200;
/** The same for the names in them, of all patterns of a command together. */
const MAX_NAMES = 100_000;
const compared = new WeakMap<Question, number>();

/**
 * Whether a pattern means a protected name, or something below it: what is there now, or something depends on. A folder for which
 * dots were written is meant as such.
 */
function meansInside(
  pattern: string,
  name: string,
  { located, question }: { located: LocatedPath; question: Question },
): boolean {
  const inside = pattern.toLowerCase().replace(/(?<!\/)\/+$/, "");
  const isOne = !inside.includes("/") || name.startsWith(".");
  if (isOne || located.real === undefined || countOf(inside) > MAX_WILDCARDS) return true;
  const { protected: patterns } = question.policy;
  const start = located.inTree === "" ? `${name}/` : `${located.inTree}/${name}/`;
  const isMeant = (path: string): boolean => {
    if (!fitsPath(inside, `${name}/${path}`.toLowerCase())) return false;
    const one = { ...located, inTree: `${start}${path}` };
    return protectedBy(one, patterns) !== undefined || holds(one, patterns) !== undefined;
  };
  const named = patterns.flatMap((one) =>
    one.startsWith(start) ? [one.slice(start.length).replace(/\/\*\*$/, "")] : [],
  );
  if ([...KEPT_THERE, ...named].some(isMeant)) return true;
  const isShown = (one: string): boolean => !one.startsWith(".") || /\/(?:\\?\.|\[)/.test(inside);
  const folders = [""];
  for (let at = 0; at < folders.length; at += 1) {
    const entries = question.files.entries(`${located.real}/${name}/${folders[at]}`);
    const pathsOf = (names: readonly string[]): string[] => names.filter(isShown).map((one) => `${folders[at]}${one}`);
    const others = [...entries.links, ...entries.others];
    const count = (compared.get(question) ?? 0) + entries.folders.length + others.length + 1;
    compared.set(question, count);
    if (at === MAX_FOLDERS || count > MAX_NAMES) return true;
    const deeper = pathsOf(entries.folders);
    if ([...deeper, ...pathsOf(others)].some(isMeant)) return true;
    for (const one of deeper) folders.push(`${one}/`);
  }
  return false;
}

/** Names in protected folders on which something depends; what else is there is not told apart from other files. */
const KEPT_THERE =
  "HEAD config index packed-refs hooks hooks/pre-commit refs/heads/main objects info/exclude config.json config.toml settings.json settings.local.json policy.json .local/policy.json hooks.json auth.json mcp.json".split(
    " ",
  );

/** A search that could find a protected name, or one on which something depends in a protected folder. */
function coveredBySearch(
  found: FoundNames,
  { located, question }: { located: LocatedPath; question: Question },
): string | undefined {
  const rest = placeOfFound(found).rest.toLowerCase();
  if (located.inTree === undefined || /^[*/]*$/.test(rest)) return undefined;
  const start = located.inTree === "" ? "" : `${located.inTree}/`;
  const isFound = (path: string): boolean => countOf(rest) > MAX_WILDCARDS || fitsPath(rest, path.toLowerCase());
  return question.policy.protected.find((pattern) => {
    const name = pattern.replace(/\/\*\*$/, "");
    const base = name.replace(/^\*\*\//, "");
    if (base.includes("*") || (name === base && !base.startsWith(start))) return false;
    // What may lie anywhere is looked for by its own name only.
    if (name !== base) return isFound(base);
    return [base, ...KEPT_THERE.map((one) => `${base}/${one}`)].some((path) => isFound(path.slice(start.length)));
  });
}

/** More than these in one pattern: it is made to be too much, and counts as fitting everything. */
const MAX_WILDCARDS = 8;

const countOf = (pattern: string): number => pattern.match(/\*+|[?[]/g)?.length ?? 0;

/** Whether a pattern fits a name, in any case of letters. */
function matcherOf(glob: string): (name: string) => boolean {
  const pattern = glob.toLowerCase().replace(/\*+/g, "*");
  if (countOf(pattern) > MAX_WILDCARDS) return () => true;
  return (name) => fitsPattern(pattern, name.toLowerCase());
}
