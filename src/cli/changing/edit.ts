import * as z from "zod";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import { readPlanDetail } from "../../dispatcher/report/read.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { sha256 } from "../../kernel/ids.ts";
import { hasConflict, mergeLines } from "../../plan/merge-lines.ts";
import type { Call } from "../output.ts";
import { reading, refuseInsideRun, suggesting } from "../plans.ts";
import { readInput } from "../read-input.ts";
import { visible } from "../render/safe-text.ts";
import { type EditedFile, editorOf, forEditor } from "./editor.ts";

export interface EditOptions {
  readonly file?: string;
  readonly stdin?: boolean;
  readonly basedOn?: string;
}

const resultSchema = z.object({ problems: z.array(z.string()) });
type Result = z.infer<typeof resultSchema> & { readonly merged?: boolean };

/** Changes a plan's text; what arrived while the person was writing is merged with it. */
export async function edit(call: Call, plan: string, options: EditOptions): Promise<number> {
  refuseInsideRun(call);
  const before = await suggesting(call, plan, () => textNow(call, plan));
  const given = await readInput(options);
  if (given !== undefined) {
    const args = { plan, text: given, ...(options.basedOn === undefined ? {} : { basedOn: options.basedOn }) };
    return report(call, plan, resultSchema.parse(await callOwner(call.cwd, "edit", args)));
  }
  const editor = editorOf(call);
  if (editor === undefined) {
    const hint = `Set one, or give the text: prloom edit ${plan} --file plan.md`;
    throw new PrloomError("usage", "There is no editor: neither VISUAL nor EDITOR is set.", hint);
  }
  const file = forEditor(editor, plan, before ?? "");
  const text = await file.open();
  if (text === before) {
    file.remove();
    call.output.line("Nothing was changed.");
    call.output.data({ plan, changed: false });
    return 0;
  }
  const result = await file.keeping(() => apply(call, plan, { base: before, text, file }));
  file.remove();
  return report(call, plan, result);
}

async function textNow(call: Call, plan: string): Promise<string | undefined> {
  return (await reading(call, (loom) => readPlanDetail(loom, plan))).text;
}

interface Edited {
  /** What the person began with. */
  readonly base: string | undefined;
  readonly text: string;
  readonly file: EditedFile;
}

/** Each round starts from what is there by then; it ends when nothing came in between, or nothing can be decided. */
async function apply(call: Call, plan: string, edited: Edited): Promise<Result> {
  const { file } = edited;
  let { base, text } = edited;
  for (let merged = false; ; merged = true) {
    try {
      const args = { plan, text, ...(base === undefined ? {} : { basedOn: sha256(base) }) };
      return { ...resultSchema.parse(await callOwner(call.cwd, "edit", args)), merged };
    } catch (error) {
      if (!(error instanceof PrloomError) || error.code !== "revision-conflict") throw error;
      const now = await textNow(call, plan);
      if (base === undefined || now === undefined) throw error;
      const both = mergeLines(base, text, now);
      if (both.kind === "conflict") call.output.note(`${plan} changed at the same place: choose in the editor.`);
      text = both.kind === "merged" ? both.text : await file.open(both.text);
      // An editor that asks no person changes nothing; then both texts stay in the file.
      if (hasConflict(text)) throw error;
      base = now;
    }
  }
}

function report({ output }: Call, plan: string, { problems, merged = false }: Result): number {
  output.line(`changed the text of ${plan}${merged ? ", merged with what arrived meanwhile" : ""}.`);
  for (const problem of problems) output.line(`${output.paint("yellow", "warning:")} ${visible(problem)}`);
  output.data({ plan, changed: true, merged, problems });
  return 0;
}
