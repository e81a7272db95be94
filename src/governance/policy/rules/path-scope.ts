import { isSecretAddress } from "../../shell/values/addresses.ts";
import { below, type Ground, matchesAny, matching } from "../paths.ts";
import { isAnswer, type LocatedPath, locate, type PolicyRule, type Question, type RuleRefusal } from "../rule.ts";
import { isSecret } from "../secrets.ts";

export const pathScope: PolicyRule = {
  name: "path scope",
  purpose: "A role writes where its work is, wherever links lead; secrets are read by no role.",
  judge(question) {
    const { kind, paths, url } = question.request;
    const isWrite = kind === "write" || kind === "edit";
    if (kind === "web" && url !== undefined && isSecretAddress(url)) return refuseAddress(url, question);
    if (!isWrite && kind !== "read" && kind !== "search") return undefined;
    for (const path of paths) {
      const located = locate(path, question);
      const refusal = isWrite ? refuseWrite(located, question) : refuseRead(located, question);
      if (refusal) return refusal;
    }
    return undefined;
  },
};

/** Where the run may write: what the role has, narrowed by the task. */
export function isInScope(located: LocatedPath, { policy, ground }: Question): boolean {
  const { real, inTree } = located;
  if (real === undefined) return false;
  if (isTemporary(real, ground) || isAnswer(located)) return true;
  if (inTree === undefined || !matchesAny(inTree, policy.role.paths)) return false;
  return policy.paths === null || matchesAny(inTree, policy.paths);
}

/** A worktree may itself lie in the folder for temporary files: it is not one of them, and neither is what lies around it there. */
export function isTemporary(real: string, { root, temporary }: Ground): boolean {
  const [first] = below(real, temporary)?.split("/") ?? [];
  const [own] = below(root, temporary)?.split("/") ?? [];
  return first !== undefined && own !== "" && first !== own;
}

function refuseWrite(located: LocatedPath, question: Question): RuleRefusal | undefined {
  if (isInScope(located, question)) return undefined;
  const { policy, request } = question;
  const leads = located.real !== undefined && located.real !== located.given ? `, which is ${located.real}` : "";
  const scope = policy.paths ?? policy.role.paths;
  const isWide = scope.includes("**");
  return {
    what: `You tried to change ${located.given}${leads} with "${request.tool}".`,
    why: isWide
      ? `Only what lies below ${policy.root} is yours to change.`
      : `The role "${policy.role.name}" changes only: ${scope.join(", ") || "nothing"}.`,
    useInstead: isWide
      ? `Use a path below ${policy.root}, or ${policy.temporary} for files that you need for a moment.`
      : "Say in your answer what should be changed there.",
    evidence: `policy.root = "${policy.root}", policy.role.paths = ${JSON.stringify(policy.role.paths)}, policy.paths = ${JSON.stringify(policy.paths)}`,
  };
}

function refuseRead({ given, real, inTree }: LocatedPath, { policy, request }: Question): RuleRefusal | undefined {
  const path = real ?? given;
  const named = inTree === undefined ? undefined : matching(inTree, policy.secrets);
  // What is searched for may be a pattern.
  const type = request.kind === "search" ? "glob" : "known";
  if (named === undefined && !isSecret({ type, text: path }) && !isSecret({ type, text: given })) return undefined;
  return {
    what: `You tried to read ${given} with "${request.tool}".`,
    why: "It holds secrets. What you read may end in a log, or in a model's memory.",
    useInstead: "Use an example file, or let the program that needs it read it: tests and scripts may.",
    evidence:
      named === undefined ? `${path} is among the files that always are secret` : `governance.secrets has ${named}`,
  };
}

function refuseAddress(url: string, { request }: Question): RuleRefusal {
  return {
    what: `You tried to read ${url} with "${request.tool}".`,
    why: "Machines in a cloud get their tokens there. What you read may end in a log, or in a model's memory.",
    useInstead: "Say in your answer what you need to know about the machine.",
    evidence: `${url} is an address for metadata of a machine`,
  };
}
