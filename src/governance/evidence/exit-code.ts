import type { AndOr, Command, CommandNode, PipelineNode, Statement } from "unbash";
import { parseShell } from "../shell/parse.ts";
import { isTestCommand } from "./command-kind.ts";

/** What can give an exit code of its own to a command, or to the whole line. */
const CHANGES_MEANING = /^(?:alias|eval|trap)$/;
/** With these it says something about the tests, and runs none. */
const RUNS_NONE =
  /\s(?:--?(?:help|version|co|collect-only|no-run|list|listTests|dry-run|if-present|DskipTests|Dmaven\.test\.skip|clearCache|showConfig|fixtures|markers)\b|-[hN](?:\s|$))/;
const NEVER_PASSES = /^(?:false|(?:exit|return) +[1-9]\d*)$/;

/**
 * Whether the tests in a command have passed when all of it ends with 0. Behind `| tail` or `|| true` nothing tells that, and a line that
 * ends with something else ends with the code of that.
 */
export function tellsOfTests(command: string): boolean {
  const parsed = parseShell(command);
  return "script" in parsed && new Reading(command).listTells(parsed.script.commands);
}

class Reading {
  readonly #source: string;
  /** Options of the shell with which every part decides. */
  #stopsAtFailure = false;
  #pipesFail = false;
  #isOther = false;

  constructor(source: string) {
    this.#source = source;
  }

  listTells(statements: readonly Statement[]): boolean {
    const told = statements.map((statement, at) => {
      const isLast = at === statements.length - 1;
      return this.#statementTells(statement, isLast) && (this.#stopsAtFailure || isLast);
    });
    return told.includes(true) && !this.#isOther;
  }

  #statementTells({ command, background }: Statement, isLast: boolean): boolean {
    const tells = command.type === "AndOr" ? this.#partsTell(command, isLast) : this.#pipelineTells(command);
    return tells && !background;
  }

  /** A shell that stops at what fails does not stop at what fails in front of `&&`. */
  #partsTell({ commands, operators }: AndOr, isLast: boolean): boolean {
    return commands.reduce((tells, node, at) => {
      const own = this.#pipelineTells(node);
      if (at === 0 || operators[at - 1] === "&&") return (tells && isLast) || own;
      return tells && this.#neverPasses(node);
    }, false);
  }

  #pipelineTells(node: PipelineNode): boolean {
    if (node.type !== "Pipeline") return this.#nodeTells(node);
    const told = node.commands.map((command) => this.#nodeTells(command));
    const isNegated = node.prefixes.some(({ type }) => type === "Negation");
    return !isNegated && (this.#pipesFail ? told.includes(true) : told.at(-1) === true);
  }

  #nodeTells(node: CommandNode): boolean {
    if (node.type === "Command") return this.#commandTells(node);
    if (node.type === "BraceGroup") return this.listTells(node.body.commands);
    // What is set in it ends with it.
    if (node.type === "Subshell") return tellsOfTests(this.#textOf(node.body));
    if (node.type === "Function") this.#isOther = true;
    return false;
  }

  #commandTells(node: Command): boolean {
    const name = node.name?.value ?? "";
    if (CHANGES_MEANING.test(name)) this.#isOther = true;
    const words = node.args.map((one) => ("value" in one ? String(one.value) : ""));
    if (name === "set") this.#set(words);
    const carried = /^(?:.*\/)?(?:ba|da|z)?sh$/.test(name) && /^-[a-z]*c$/.test(words[0] ?? "") ? words[1] : undefined;
    if (carried !== undefined) return tellsOfTests(carried);
    const text = this.#textOf(node);
    return isTestCommand(text) && !RUNS_NONE.test(text);
  }

  #set(words: readonly string[]): void {
    const isOn = !words[0]?.startsWith("+");
    if (words.some((word) => /^[-+][a-z]*e/.test(word) || word === "errexit")) this.#stopsAtFailure = isOn;
    if (words.includes("pipefail")) this.#pipesFail = isOn;
  }

  #neverPasses(node: PipelineNode): boolean {
    const [last] = node.type === "BraceGroup" || node.type === "Subshell" ? node.body.commands.slice(-1) : [];
    return NEVER_PASSES.test(this.#textOf(last ?? node));
  }

  #textOf = ({ pos, end }: { readonly pos: number; readonly end: number }): string =>
    this.#source.slice(pos, end).trim();
}
