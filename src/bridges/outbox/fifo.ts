/** Copying what is left is worth it when so many were taken from the front. */
const TOLERATED = 1000;

/** First in, first out; taking from the front costs the same however long it is. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  get first(): T | undefined {
    return this.#items[this.#first];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#first];
    this.#items[this.#first] = undefined;
    this.#first += 1;
    if (this.#first > TOLERATED && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  /** From the newest to the oldest. */
  *backwards(): Generator<T> {
    for (let index = this.#items.length - 1; index >= this.#first; index -= 1) yield this.#items[index] as T;
  }
}
