import { watchDirectory } from "../../bus/file/watch.ts";

/** Watches are not free; what lies beyond is found at the next look. */
const MAX_FOLDERS = 1000;

/** Folders in which something may happen; they need not be there yet. */
export class FolderWatch {
  readonly #ends = new Map<string, () => void>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches these and no others. True if some are new: what happened in them before is not told, so look again. */
  follow(folders: readonly string[]): boolean {
    const wanted = new Set(folders.slice(0, MAX_FOLDERS));
    for (const [folder, end] of this.#ends) {
      if (wanted.has(folder)) continue;
      end();
      this.#ends.delete(folder);
    }
    const fresh = [...wanted].filter((folder) => !this.#ends.has(folder));
    for (const folder of fresh) this.#ends.set(folder, watchDirectory(folder, this.#onChange));
    return fresh.length > 0;
  }

  close(): void {
    this.follow([]);
  }
}
