import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as z from "zod";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import { readPlanDetail } from "../../dispatcher/report/read.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { sha256 } from "../../kernel/ids.ts";
import { trustedPath } from "../../kernel/system/find-program.ts";
import type { Call } from "../output.ts";
import { reading, refuseInsideRun, suggesting } from "../plans.ts";
import { readInput } from "../read-input.ts";
import { visible } from "../render/safe-text.ts";

export interface EditOptions {
  readonly file?: string;
  readonly stdin?: boolean;
  readonly basedOn?: string;
}

const resultSchema = z.object({ problems: z.array(z.string()) });

/** Replaces a plan's text, unless it changed while the person was writing. */
export async function edit(call: Call, plan: string, options: EditOptions): Promise<number> {
  refuseInsideRun(call);
  const { text: before } = await suggesting(call, plan, () => reading(call, (loom) => readPlanDetail(loom, plan)));
  const given = await readInput(options);
  if (given !== undefined) {
    const args = { plan, text: given, ...(options.basedOn === undefined ? {} : { basedOn: options.basedOn }) };
    return report(call, plan, resultSchema.parse(await callOwner(call.cwd, "edit", args)));
  }
  const file = await inEditor(call, plan, before ?? "");
  const text = readFileSync(file, "utf8");
  if (text === before) {
    rmSync(dirname(file), { recursive: true });
    call.output.line("Nothing was changed.");
    call.output.data({ plan, changed: false });
    return 0;
  }
  const args = { plan, text, ...(before === undefined ? {} : { basedOn: sha256(before) }) };
  const result = resultSchema.parse(await keeping(file, () => callOwner(call.cwd, "edit", args)));
  rmSync(dirname(file), { recursive: true });
  return report(call, plan, result);
}

/** What a person wrote is never lost because it could not be applied. */
async function keeping<T>(file: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof PrloomError)) throw error;
    throw new PrloomError(error.code, `${error.message} Your version is in ${file}`, error.hint, error);
  }
}

async function inEditor(call: Call, plan: string, text: string): Promise<string> {
  const editor = call.env.VISUAL || call.env.EDITOR;
  if (!editor) {
    throw new PrloomError(
      "usage",
      "There is no editor: neither VISUAL nor EDITOR is set.",
      `Set one, or give the text: prloom edit ${plan} --file plan.md`,
    );
  }
  const file = join(mkdtempSync(join(tmpdir(), "prloom-edit-")), `${plan}.md`);
  writeFileSync(file, text);
  // Through a shell, as git does it: people set EDITOR to things like `code --wait`.
  const env = { ...call.env, PATH: trustedPath(call.env.PATH) };
  const child = spawn("sh", ["-c", `${editor} "$@"`, editor, file], { env, stdio: "inherit" });
  const code = await new Promise<number | null>((resolve, reject) => child.once("exit", resolve).once("error", reject));
  if (code === 0) return file;
  if (readFileSync(file, "utf8") === text) rmSync(dirname(file), { recursive: true });
  throw new PrloomError(
    "usage",
    `The editor (${editor}) failed, so nothing was changed.${existsSync(file) ? ` What you wrote is in ${file}` : ""}`,
    "Check VISUAL and EDITOR.",
  );
}

function report({ output }: Call, plan: string, result: z.infer<typeof resultSchema>): number {
  output.line(`changed the text of ${plan}.`);
  for (const problem of result.problems) output.line(`${output.paint("yellow", "warning:")} ${visible(problem)}`);
  output.data({ plan, changed: true, problems: result.problems });
  return 0;
}
