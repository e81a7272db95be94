import { OWN_PROTECTED } from "../own-protected.ts";
import { below, matching } from "../paths.ts";
import { isAnswer, type LocatedPath, locate, type PolicyRule, type Question, type RuleRefusal } from "../rule.ts";

export const protectedPaths: PolicyRule = {
  name: "protected paths",
  purpose: "Files that govern agents, and git's own, are changed by no role.",
  judge(question) {
    const { kind, paths } = question.request;
    if (kind !== "write" && kind !== "edit") return undefined;
    for (const path of paths) {
      const refusal = refuseProtected(locate(path, question), question);
      if (refusal) return refusal;
    }
    return undefined;
  },
};

/** What some file systems leave out of names, or take for the same, is a way to write a protected name otherwise. */
const IGNORED = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|(?<![. ])[. ]+(?=\/|$)|(?<=\.git)(?:::?\$\w+)+/giu;
const plain = (path: string): string =>
  path
    .normalize("NFKC")
    .replace(IGNORED, "")
    .replace(/(^|\/)git~\d(?=\/|$)/gi, "$1.git");
const isPlain = (path: string): boolean => /^(?:[\w/+@-]|\.(?=[\w+@-]))*$/.test(path);

/** For shell commands as well. */
export function protectedBy({ inTree }: LocatedPath, patterns: readonly string[]): string | undefined {
  if (inTree === undefined) return undefined;
  return (
    matching(inTree, patterns, "any-case") ??
    (isPlain(inTree) ? undefined : matching(plain(inTree), patterns, "any-case"))
  );
}

/** Why a path is protected, by the pattern that it matches or the path of git's own that it is. */
export function whyProtected(pattern: string): string {
  const name = pattern.toLowerCase();
  const isOwn = OWN_PROTECTED.some((own) => below(name, own) !== undefined) || /\.git(?:\/|$)/.test(name);
  return isOwn
    ? `It decides what agents may do, or belongs to git (${pattern}); a change of it is for a person.`
    : `The config of this repository protects it (governance.protected has ${pattern}); a change of it is for a person.`;
}

function refuseProtected(located: LocatedPath, { request, policy }: Question): RuleRefusal | undefined {
  const pattern = isAnswer(located) ? undefined : protectedBy(located, policy.protected);
  if (pattern === undefined) return undefined;
  return {
    what: `You tried to change ${located.given} with "${request.tool}".`,
    why: whyProtected(pattern),
    useInstead: "Write into the plan what should be changed there, and why:",
    calls: [{ tool: "read", input: { filePath: `${policy.root}/prloom/.local/plan.md` } }],
    evidence: `${located.inTree} matches the protected path ${pattern}`,
  };
}
