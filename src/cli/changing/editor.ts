import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PrloomError } from "../../kernel/errors.ts";
import { trustedPath } from "../../kernel/system/find-program.ts";
import type { Call } from "../output.ts";

/** A text that a person edits. It lies in a folder of its own until `remove`. */
export interface EditedFile {
  readonly file: string;
  text(): string;
  /** Opens the editor, with this text if one is given; returns what the person left. */
  open(text?: string): Promise<string>;
  /** Does something with the text; what the person wrote is never lost because it could not be done. */
  keeping<T>(act: () => Promise<T>): Promise<T>;
  remove(): void;
}

/** The person's editor; undefined when none is set. */
export function editorOf({ env }: Pick<Call, "env">): string | undefined {
  return env.VISUAL || env.EDITOR || undefined;
}

/** Writes a text into a file for the editor. */
export function forEditor(editor: string, name: string, first: string): EditedFile {
  const file = join(mkdtempSync(join(tmpdir(), "prloom-edit-")), `${name}.md`);
  const text = (): string => readFileSync(file, "utf8");
  const remove = (): void => rmSync(dirname(file), { recursive: true });
  writeFileSync(file, first);
  /** Of an editor that failed: it tells already where the text is. */
  let told: PrloomError | undefined;
  return {
    file,
    text,
    remove,
    async open(given) {
      if (given !== undefined) writeFileSync(file, given);
      const before = text();
      // Through a shell, as git does it: people set EDITOR to things like `code --wait`.
      const env = { ...process.env, PATH: trustedPath(process.env.PATH) };
      const child = spawn("sh", ["-c", `${editor} "$@"`, editor, file], { env, stdio: "inherit" });
      const code = await new Promise<number | null>((resolve, reject) =>
        child.once("exit", resolve).once("error", reject),
      );
      if (code === 0) return text();
      if (given === undefined && text() === before) remove();
      const place = existsSync(file) ? ` What you wrote is in ${file}` : "";
      told = new PrloomError(
        "usage",
        `The editor (${editor}) failed, so nothing was changed.${place}`,
        "Check VISUAL and EDITOR.",
      );
      throw told;
    },
    async keeping(act) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof PrloomError) || error === told) throw error;
        throw new PrloomError(error.code, `${error.message} Your version is in ${file}`, error.hint, error);
      }
    },
  };
}
