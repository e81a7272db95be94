const NONE = new Map<string, never>();

/**
 * Values by name, of which copies cost nothing until one of them is changed: a shell is copied for every subshell, pipe and
 * branch, and hardly any of them changes much.
 */
export class Names<V> {
  private map: Map<string, V> | undefined;
  private isShared = false;

  get size(): number {
    return this.map?.size ?? 0;
  }

  get(name: string): V | undefined {
    return this.map?.get(name);
  }

  has(name: string): boolean {
    return this.map?.has(name) ?? false;
  }

  set(name: string, value: V): void {
    this.own().set(name, value);
  }

  delete(name: string): void {
    if (this.has(name)) this.own().delete(name);
  }

  clear(): void {
    if (this.size > 0) this.map = undefined;
    this.isShared = false;
  }

  copy(): Names<V> {
    const copy = new Names<V>();
    if (this.map === undefined) return copy;
    copy.map = this.map;
    copy.isShared = true;
    this.isShared = true;
    return copy;
  }

  /** Whether nothing was changed in either since one was copied from the other. */
  isSame(other: Names<V>): boolean {
    return this.map === other.map;
  }

  [Symbol.iterator](): Iterator<[string, V]> {
    return (this.map ?? (NONE as Map<string, V>))[Symbol.iterator]();
  }

  private own(): Map<string, V> {
    if (this.map === undefined) this.map = new Map();
    else if (this.isShared) this.map = new Map(this.map);
    this.isShared = false;
    return this.map;
  }
}
