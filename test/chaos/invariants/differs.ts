/** A sentence when something is not as it should be. */
export function differs(what: string, actual: unknown, wanted: unknown): string[] {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(wanted)];
  return is === should ? [] : [`${what}: ${is}, but should be ${should}`];
}

/** The values that are there more than once. */
export function repeated(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}
