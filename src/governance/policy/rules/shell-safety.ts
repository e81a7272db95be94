import type { Effect, EffectTree } from "../../shell/effects.ts";
import { fitsPath } from "../../shell/values/glob.ts";
import { beforePattern, describeText, folderBefore, placeOfFound, type Text, textOf } from "../../shell/values/text.ts";
import { below, follow, isTemporary } from "../paths.ts";
import { behindPattern, linksFound } from "../pattern-links.ts";
import type { Policy } from "../policy-file.ts";
import { protectedIn } from "../protected-names.ts";
import type { PolicyRule, Question, RuleRefusal } from "../rule.ts";
import { isAnswer, type LocatedPath, locate, locateItself } from "../rule.ts";
import { configuredSecret, isSecret, isSecretIn, secretMeant } from "../secrets.ts";
import { isInScope, scopeOfPath } from "./path-scope.ts";
import { whyProtected } from "./protected-paths.ts";

export const shellSafety: PolicyRule = {
  name: "shell safety",
  purpose: "A shell command is judged by what it does; one that cannot be understood is not run.",
  judge(question) {
    if (question.request.kind !== "shell") return undefined;
    return firstOf(question.effects(), question);
  },
};

function firstOf(tree: EffectTree, question: Question): RuleRefusal | undefined {
  for (const effect of tree.effects) {
    const refusal = refuse(effect, question, tree.command);
    if (refusal) return refusal;
  }
  for (const inner of tree.inner) {
    const refusal = firstOf(inner, question);
    if (refusal) return refusal;
  }
  return undefined;
}

/** Effects that no role has, and why. */
const NEVER: Partial<Record<Effect["kind"], string>> = {
  sends: "What is on this machine stays here: sending it elsewhere is for a person, or for prloom after review.",
  history: "It would lose work, or commits that others have.",
  privilege: "An agent works with the rights it has, inside the worktree.",
  system: "It would harm the machine, or data that is not the run's.",
  ours: "What governs agents, and programs of the whole machine, are changed by a person.",
  agent: "An agent that is started by an agent is governed by nothing.",
  code: "Code that is not in a file cannot be looked at, neither now nor in review.",
  unknown: "What cannot be understood is not run.",
};

const INSTEAD: Partial<Record<Effect["kind"], string>> = {
  sends: "Say in your answer what should be sent where.",
  history: "Undo single files with the edit tool; commit what is done.",
  privilege: "Do it without other rights, or say in your answer what is needed.",
  system: "Work on files of the worktree.",
  ours: "Say in your answer what should be changed.",
  agent: "Do it yourself, or use the tool for sub-agents.",
  code: "Write it to a file in the worktree, then run that file.",
  unknown: "Write it plainly: one command, names and paths as they are.",
};

function refuse(effect: Effect, question: Question, command: string): RuleRefusal | undefined {
  if (effect.kind === "reads") return refuseRead(effect, question, command);
  if (effect.kind === "writes" || effect.kind === "deletes") return refuseChange(effect, question, command);
  const { policy } = question;
  const readsOnly = policy.role.shell === "reads" || policy.door.state === "closed";
  const isAllowed = effect.kind === "code" && policy.interpreters.includes(effect.interpreter ?? "");
  const because = isAllowed ? undefined : NEVER[effect.kind];
  if (because !== undefined) {
    // What a program knows to do instead is for those who work: who only reads commits nothing.
    const known = readsOnly && effect.kind === "sends" ? undefined : effect.instead;
    return refusal(effect, { why: because, instead: known ?? INSTEAD[effect.kind] ?? "", command });
  }
  if (effect.kind === "runs" || isAllowed) {
    if (!readsOnly) return isAllowed ? undefined : refuseProgram(effect, question, command);
    return refusal(effect, {
      why: `The role "${policy.role.name}" runs only what reads, and this may do anything.`,
      instead: "Read the files that tell it, or leave running to the executor.",
      command,
    });
  }
  return undefined;
}

/** Programs that were installed for all, or for the person by a package manager. */
const INSTALLED = /^\/(?:usr|bin|sbin|lib\d*|opt|snap|nix|etc|Library|Applications|System)\//;

/** A program that lies where an agent cannot write, or in the worktree, where it is read in review. */
function refuseProgram(effect: Effect, question: Question, command: string): RuleRefusal | undefined {
  const { path } = effect;
  if (path === undefined) return undefined;
  const at = path.type === "found" ? placeOfFound(path).folder : describeText(path);
  const located = path.type === "unknown" ? undefined : locate(at, question);
  const real = located?.real ?? "";
  const inHome = below(real, question.policy.home);
  if (located?.inTree !== undefined || isTemporary(real, question.ground) || INSTALLED.test(real)) return undefined;
  if (inHome !== undefined && /^\.|^go\/bin\/|^bin\/|\/node_modules\/\.bin\//.test(inHome)) return undefined;
  return refusal(effect, {
    why:
      path.type === "unknown"
        ? "Which program it is cannot be told."
        : "It lies outside of the worktree, where no review sees it.",
    instead: `Put it into the worktree, or write its path as it is, below ${question.policy.root}.`,
    command,
  });
}

interface Because {
  readonly why: string;
  readonly instead: string;
  readonly command: string;
}

function refusal(effect: Effect, { why, instead, command }: Because): RuleRefusal {
  return {
    what: `The command ${effect.what}.`,
    why,
    useInstead: instead,
    evidence: `${effect.kind}: in \`${command}\``,
  };
}

/** Whether where it leads depends on a link that `..` follows. */
const isAmbiguous = ({ upward }: Effect, question: Question): boolean =>
  upward !== undefined && locate(upward, question).real === undefined;

function refuseRead(effect: Effect, question: Question, command: string): RuleRefusal | undefined {
  const { path } = effect;
  if (!path) return undefined;
  if (path.type === "found" || path.type === "unknown")
    return isSecretIn(path, question.policy) ? secretRefusal(effect, command) : undefined;
  const located = locate(describeText(path), question);
  const { secrets } = question.policy;
  const said = located.inTree === undefined ? undefined : configuredSecret(located.inTree, secrets);
  // A pattern can mean more than what was taken out.
  if (said === "not-secret" && path.type === "known") return undefined;
  const named = typeof said === "object" || secretMeant(located.inTree ?? "", secrets) !== undefined;
  const leads = located.real !== undefined && located.real !== path.text;
  const isBehind = leads && isSecret({ type: "known", text: located.real ?? "" });
  if (isAmbiguous(effect, question)) {
    const taken = follow(effect.upward ?? "", question.files, question.ground);
    if (taken === undefined || isSecret({ type: "known", text: taken })) return secretRefusal(effect, command);
  }
  return named || isBehind || isSecret(path) ? secretRefusal(effect, command) : undefined;
}

function secretRefusal(effect: Effect, command: string): RuleRefusal {
  return refusal(effect, {
    why: "It holds secrets. What you read may end in a log, or in a model's memory.",
    instead: "Use an example file, or let the program that needs it read it.",
    command,
  });
}

/** The folder in which everything lies that a path can mean. */
function placeOf(path: Text): { folder: string; isAll: boolean } | undefined {
  if (path.type === "unknown") return undefined;
  if (path.type === "found") {
    const { folder, rest } = placeOfFound(path);
    return { folder, isAll: rest === "**" };
  }
  if (path.type === "known") return { folder: path.text, isAll: true };
  const start = beforePattern(path.text);
  const folder = folderBefore(path.text).replace(/(.)\/$/, "$1");
  return { folder, isAll: /^[.*?]*$/.test(path.text.slice(start.length)) && start.endsWith("/") };
}

/** A folder for temporary files that is not the run's own. */
const SHARED = /^(?:\/private)?(?:\/var)?\/tmp$/;

function refuseChange(effect: Effect, question: Question, command: string): RuleRefusal | undefined {
  const { policy, ground } = question;
  const place = effect.path && placeOf(effect.path);
  if (!place)
    return refusal(effect, {
      why: "Where it writes cannot be told.",
      instead: "Write the path as it is, without variables.",
      command,
    });
  const located = effect.itself ? locateItself(place.folder, question) : locate(place.folder, question);
  const because = (why: string, instead: string) => refusal(effect, { why, instead, command });
  if (isAmbiguous(effect, question))
    return because("Where it leads depends on a link that `..` follows.", "Write the path without `..`.");
  const isKnown = effect.path?.type === "known";
  const owner = protectedIn(effect.path as Text, { located, question });
  if (owner !== undefined && !isAnswer(located))
    return because(whyProtected(owner), "Write into the plan what should be changed there.");
  if (!isInScope(located, question) && (isKnown || !isFolderOfScope(located, question)))
    return because(outside(located, question), whereInstead(located, policy));
  const holdsRoot = located.real !== undefined && below(ground.root, located.real) !== undefined;
  if (effect.kind === "deletes" && holdsRoot && place.isAll)
    return because(
      "It would delete everything in the worktree, also what is not committed.",
      "Delete what you mean by its name.",
    );
  const isShared = effect.kind === "deletes" && place.isAll && SHARED.test(ground.temporary);
  if (located.real === ground.temporary && (isShared || meansOthers(effect.path as Text, question)))
    return because("It would change what others keep there for a moment, too.", "Name what you mean.");
  if (effect.kind === "writes" && effect.whole && holdsRoot)
    return because("It would change everything in the worktree.", "Name the files that you mean.");
  return refuseBehind(effect, question, command);
}

/** A pattern, or a search, means what is there: also what a link leads to. */
function refuseBehind(effect: Effect, question: Question, command: string): RuleRefusal | undefined {
  const { path: meant, kind } = effect;
  const isSearch = meant?.type === "found";
  // What a search tells by its name is gone itself where it is deleted.
  if (isSearch ? kind === "deletes" && !meant.follows : meant?.type !== "glob") return undefined;
  const found = isSearch
    ? linksFound(meant, question.files)
    : behindPattern(textOf(meant as Text), question.files, kind === "deletes");
  // A search that follows no links hardly ever tells one.
  if (!found && isSearch && !meant.follows) return undefined;
  if (!found)
    return refusal(effect, { why: "It means too many folders to look for links in.", instead: "Name them.", command });
  for (const path of found) {
    const through: Effect = isSearch ? { ...effect, kind: "writes", whole: undefined, path } : { ...effect, path };
    const refused = refuseChange(through, question, command);
    if (refused) return refused;
  }
  return undefined;
}

/** A pattern or a search among temporary files can mean what lies there and is none, or a socket in that. */
function meansOthers(path: Text, { files, ground }: Question): boolean {
  if (path.type === "known" || path.type === "unknown") return false;
  const pattern = path.text.slice(folderBefore(path.text).length).replace(/\/$/, "");
  return files
    .entries(ground.temporary)
    .folders.filter((one) => !isTemporary(`${ground.temporary}/${one}`, ground))
    .some((one) => fitsPath(pattern, one) || fitsPath(pattern, `${one}/0.sock`));
}

/** A name that no pattern has in it. */
const ANY_NAME = "\u{FFFC}";

/** Patterns and searches mean what is in a folder, at any depth: all of that must be in scope. */
function isFolderOfScope(located: LocatedPath, question: Question): boolean {
  const { inTree } = located;
  if (inTree === undefined) return false;
  const inside = inTree === "" ? ANY_NAME : `${inTree}/${ANY_NAME}`;
  return [inside, `${inside}/${ANY_NAME}`].every((path) => isInScope({ ...located, inTree: path }, question));
}

function whereInstead(located: LocatedPath, policy: Policy): string {
  const isWide = scopeOfPath(located, policy).paths.includes("**");
  if (isWide) return `Use a path below ${policy.root}, or ${policy.temporary} for a moment.`;
  return `Say in your answer what should be changed there, or use ${policy.temporary} for a moment.`;
}

function outside(located: LocatedPath, { policy }: Question): string {
  const { owner } = scopeOfPath(located, policy);
  return `${located.real ?? located.given} is outside of what ${owner} changes.`;
}
