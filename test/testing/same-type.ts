/** Readonly, and whether a type was put together from others, makes no difference. */
type Flat<T> = T extends readonly (infer Item)[]
  ? Flat<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Flat<T[Key]> }
    : T;

/** True when two types have the same members, the optional ones too: assignability alone would not see those. */
export type Same<A, B> = (<T>() => T extends Flat<A> ? 1 : 2) extends <T>() => T extends Flat<B> ? 1 : 2 ? true : false;
