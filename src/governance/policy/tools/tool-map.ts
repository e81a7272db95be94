import type { RequestKind } from "../request.ts";

/** How the arguments of one tool are read: names of its fields. */
export interface ToolShape {
  readonly kind: RequestKind;
  /** Fields with a path that must be there. */
  readonly paths?: readonly string[];
  /** Fields with a path or a pattern of paths that may be there. */
  readonly mayName?: readonly string[];
  /** Fields with a path that each of its `edits` may have. */
  readonly edits?: readonly string[];
  readonly command?: string;
  readonly folder?: string;
  /** A field with a patch, which names its files itself. */
  readonly patch?: string;
  /** A field with words in which a path behind an `@` stands for what is in the file. */
  readonly mentions?: string;
  readonly url?: string;
  readonly to?: string;
  /** Fields that name a session to go on with. */
  readonly resumes?: readonly string[];
  /** Fields with which it does more than is judged. */
  readonly refuses?: readonly string[];
}

export type ToolMap = Readonly<Record<string, ToolShape>>;

/** Tools that touch nothing but the conversation. */
export const TALKS: ToolShape = { kind: "read" };
