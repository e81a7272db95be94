import type { TrackerAuthor } from "../../bridges/tracker/port.ts";

/** When prloom wrote the text of an issue, by GitHub's clock, and the user id that it did so with. */
export interface OwnEdit {
  readonly id: string;
  readonly at: readonly string[];
}

/** Which edits of issues are prloom's own: they say nothing about who changed what people wrote. */
export class OwnEdits {
  readonly #self: () => Promise<TrackerAuthor>;
  readonly #at = new Map<number, readonly string[]>();

  constructor(self: () => Promise<TrackerAuthor>) {
    this.#self = self;
  }

  know(number: number, at: readonly string[]): void {
    this.#at.set(number, at);
  }

  async of(number: number): Promise<OwnEdit | undefined> {
    const at = this.#at.get(number) ?? [];
    if (at.length === 0) return undefined;
    const { id = "" } = await this.#self();
    return { id, at };
  }
}

/** The times of an issue and of its edits may differ a little. */
const SAME_TIME_MS = 2000;

/** Pure: our user id alone would not do: a person, or an agent, may share it. */
export const isOwnEdit = (own: OwnEdit | undefined, editor: string, at: string): boolean =>
  own?.id === editor && own.at.some((time) => Math.abs(Date.parse(time) - Date.parse(at)) <= SAME_TIME_MS);
