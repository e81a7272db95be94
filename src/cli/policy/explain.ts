import type { Denial, Verdict } from "../../governance/policy/denial.ts";
import { effectsOf } from "../../governance/policy/judge.ts";
import { realFiles } from "../../governance/policy/real-files.ts";
import type { ToolRequest } from "../../governance/policy/request.ts";
import type { EffectTree } from "../../governance/shell/effects.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Call } from "../output.ts";
import { effectRows, TREE_COLUMNS } from "../render/effect-tree.ts";
import { visible, visibleLines } from "../render/safe-text.ts";
import { askedCall, unknownTool } from "./asked-call.ts";
import { explainAnswer } from "./explain-answer.ts";
import { type Scene, type SceneOptions, sceneFor } from "./scene.ts";
import { judgeIn, requestIn, verdictData } from "./verdict.ts";

/** Says what the policy would decide about one call of a tool, and why. Nothing is run and nothing is written. */
export async function explain(call: Call, words: readonly string[], options: SceneOptions): Promise<number> {
  const [tool, ...args] = words;
  if (tool === undefined)
    throw new PrloomError("usage", "which tool?", 'For example: prloom explain shell "git push --force"');
  if (tool.startsWith("-"))
    throw new PrloomError("usage", `unknown option "${tool}"`, "`prloom explain --help` shows how to call it.");
  if (tool === "answer") {
    if (args.length === 0)
      throw new PrloomError("usage", "which comment?", 'For example: prloom explain answer "approved"');
    return explainAnswer(call, args.join(" "), options.plan);
  }
  const asked = askedCall(tool, args);
  const scene = await sceneFor(call, options);
  const request = requestIn(scene, asked);
  const warnings = [...scene.warnings, ...unknownTool(tool)];
  for (const warning of warnings) call.output.note(`note: ${warning}`);
  const verdict = judgeIn(scene, request);
  const effects = request.kind === "shell" && !request.malformed ? effectsIn(scene, request) : undefined;
  call.output.data({
    ...verdictData(verdict, warnings),
    ...(effects ? { effects: treeData(effects) } : {}),
  });
  if (!call.output.json) show(call, { scene, verdict, effects });
  return 0;
}

function effectsIn({ policy }: Scene, request: ToolRequest): EffectTree | undefined {
  try {
    return effectsOf(request, policy, realFiles);
  } catch {
    // The verdict has told whose fault that is.
    return undefined;
  }
}

interface TreeData {
  readonly command: string;
  readonly effects: readonly { readonly kind: string; readonly what: string }[];
  readonly inner: readonly TreeData[];
}

function treeData({ command, effects, inner }: EffectTree): TreeData {
  return { command, effects: effects.map(({ kind, what }) => ({ kind, what })), inner: inner.map(treeData) };
}

interface Explained {
  readonly scene: Scene;
  readonly verdict: Verdict;
  readonly effects: EffectTree | undefined;
}

function show({ output }: Call, { scene, verdict, effects }: Explained): void {
  const { paint } = output;
  output.line(verdict.allow ? paint("green", "allow") : `${paint("red", "deny")}  ${verdict.denial.rule}`);
  output.line(paint("dim", visible(scene.about)));
  if (verdict.allow && verdict.note !== undefined) output.line(paint("yellow", visible(verdict.note)));
  if (!verdict.allow) showDenial(output, verdict.denial);
  if (!effects) return;
  output.line();
  output.table(TREE_COLUMNS, effectRows(effects, scene.policy.root));
}

function showDenial(output: Call["output"], denial: Denial): void {
  const { what, why, useInstead, evidence, calls = [], chain } = denial;
  const part = (name: string, text: string): void =>
    output.line(`${output.paint("dim", name.padEnd(13))}${visible(text)}`);
  output.line();
  part("WHAT", what);
  part("WHY", why);
  part("USE INSTEAD", useInstead);
  for (const { tool, input } of calls) part("", `${tool} ${JSON.stringify(input)}`);
  part("EVIDENCE", evidence);
  if (chain === undefined) return;
  output.line();
  for (const line of visibleLines(chain)) output.line(line);
}
